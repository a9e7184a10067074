local kap = import 'lib/kapitan.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
local alerts = import 'lib/monitoring-alerts.libsonnet';
local params = kap.inventory().parameters.web;

local object(value) = value { metadata+: { namespace: params.namespace } };

{
  '00_namespace': kube.Namespace(params.namespace),
  '10_secret': object(kube.Secret('web') { stringData: { password: params.password } }),
  '20_deployment': object(kube.Deployment('web') {
    spec+: {
      replicas: params.replicas,
      template+: {
        spec+: {
          containers_:: {
            web: kube.Container('web') {
              image: params.image,
              ports_:: { http: { containerPort: 8080 } },
            },
          },
        },
      },
    },
  }),
  '30_alerts': object(alerts.configMap('web', ['WebDown'])),
}
