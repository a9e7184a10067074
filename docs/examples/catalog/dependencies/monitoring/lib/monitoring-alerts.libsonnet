// Alerts of other components.
{
  configMap(name, alerts):: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: name + '-alerts' },
    data: { alerts: std.join('\n', alerts) },
  },
}
