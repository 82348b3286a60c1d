/** For a Node to which OVN-Kubernetes assigns no pod subnet. */
export const overlayRemedy =
  'Check that hybridOverlayConfig is set (`kubectl get network.operator cluster -o yaml`), and run ' +
  '`kubectl logs -n openshift-ovn-kubernetes -l app=ovnkube-control-plane --all-containers --tail 50`.';
