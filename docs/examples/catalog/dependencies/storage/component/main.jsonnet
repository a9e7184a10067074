local kap = import 'lib/kapitan.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
local inventory = kap.inventory();
local params = inventory.parameters.storage;

{
  class: kube._Object('storage.k8s.io/v1', 'StorageClass', inventory.parameters._instance) {
    provisioner: 'disks.example.org',
    parameters: { type: params.disk },
    reclaimPolicy: params.reclaimPolicy,
  },
  namespace: kube.Namespace(params.namespace),
}
