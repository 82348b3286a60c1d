/** Every error code a user can meet, with one sentence of meaning. docs/reference/errors.md is generated from this table. */
export const errorCodes = {
  // input of the command line and shapes of objects
  USAGE: 'The command line was used in a way it does not understand.',
  INPUT_UNREADABLE: 'A file or folder given as input cannot be read.',
  INPUT_MALFORMED: 'An input document is not valid YAML or JSON, or is not a Kubernetes object.',
  OUTPUT_UNWRITABLE: 'The output cannot be written to the place that was asked for.',
  OBJECT_MISSING: 'An object that is needed is not among the input.',
  FIELD_INVALID: 'A field of an object is missing or has a value of the wrong type.',
  SETTING_INVALID: 'A variable in the environment of the operator is missing or has a value that cannot be used.',

  // windows-instances
  INSTANCE_ENTRY_MALFORMED: 'An entry of windows-instances is not of the form username=<name>.',
  INSTANCE_USERNAME_INVALID:
    'The user name of an entry of windows-instances is empty or cannot be a Windows user name.',
  INSTANCE_ADDRESS_INVALID: 'The key of an entry of windows-instances is neither an IPv4 address nor a DNS name.',
  INSTANCE_ADDRESS_UNRESOLVED: 'The DNS name of an instance does not resolve to an IPv4 address.',
  INSTANCE_DUPLICATE: 'Two entries of windows-instances are the same host.',
  INSTANCE_NOT_LISTED: 'A Node belongs to no entry of windows-instances.',

  // services ConfigMap
  SERVICES_MALFORMED: 'The services ConfigMap cannot be parsed.',
  SERVICES_DEPENDENCY_INVALID: 'A service of the services ConfigMap has a dependency it must not have.',
  SERVICES_PRIORITY_INVALID: 'The priorities in the services ConfigMap put a service at the wrong place.',
  SERVICES_CONTENT_DIFFERS: 'The services ConfigMap is not what this operator would write.',

  // cluster facts
  NETWORK_TYPE_UNSUPPORTED: 'The network type of the cluster cannot carry Windows nodes.',
  NETWORK_HYBRID_OVERLAY_MISSING: 'OVN-Kubernetes runs without the hybrid overlay that Windows nodes need.',
  NETWORK_HYBRID_OVERLAY_INVALID: 'The hybrid overlay has no usable cluster network.',
  NETWORK_SERVICE_CIDR_INVALID: 'The service network is missing, is no IPv4 CIDR or is too small.',
  NETWORK_CLASS_E: 'A cluster network lies in 240.0.0.0/4, which Windows does not route.',
  NETWORK_VXLAN_PORT_TAKEN: 'On vSphere the overlay cannot use the default VXLAN port.',
  SERVER_VERSION_UNSUPPORTED: 'The Kubernetes version of the API server does not go with our kubelet.',
  PLATFORM_MISSING: 'The Infrastructure object does not say on which platform the cluster runs.',
  API_SERVER_URL_MISSING: 'The Infrastructure object has no internal API server address.',
  TLS_PROFILE_INVALID:
    'The TLS security profile of the cluster is of an unknown type, or is Custom without a usable profile.',
  MONITORING_LABEL_INVALID: 'The cluster-monitoring label of the namespace is no boolean.',

  // ignition
  RENDERED_WORKER_MISSING: 'There is no rendered worker MachineConfig.',
  IGNITION_MALFORMED: 'The ignition config of the worker MachineConfig cannot be read.',
  KUBELET_UNIT_MALFORMED: 'The kubelet unit of the worker MachineConfig cannot be read.',
  KUBELET_CA_MISSING: 'No ControllerConfig holds the CA that signs the API server’s client certificate.',

  // keys and user names
  PRIVATE_KEY_MISSING: 'The Secret cloud-private-key has no private-key.pem.',
  PRIVATE_KEY_UNREADABLE: 'The private key has a format we cannot read.',
  PRIVATE_KEY_ENCRYPTED: 'The private key is protected by a passphrase.',
  PUBLIC_KEY_UNREADABLE: 'A public key is not in the form of an authorized_keys line.',
  PUBLIC_KEY_WEAK: 'The public key is too weak to be trusted.',
  USERNAME_KEY_MISSING: 'A user name cannot be encrypted or decrypted without a key.',
  USERNAME_UNREADABLE: 'The username annotation is not an encrypted user name.',
  USERNAME_WRONG_KEY: 'The username annotation was encrypted with another private key.',
  HOST_KEY_UNREADABLE: 'A stored SSH host key cannot be read.',
  HOST_KEY_CHANGED: 'A host shows another SSH host key than the one we trust.',

  // files for the node
  LOG_SETTING_INVALID: 'A log rotation variable of the operator has an invalid value.',
  CHECKSUMS_MALFORMED: 'The payload’s sha256sum file cannot be read.',
  PAYLOAD_CHECKSUM_MISSING: 'A payload file has no checksum.',
  PULL_SECRET_MALFORMED: 'The cluster pull secret cannot be read.',
  MIRROR_SET_INVALID: 'An entry of a mirror set cannot be used.',
  SECRET_KEY_MISSING: 'A Secret lacks a key that is needed.',
  KUBECONFIG_MALFORMED: 'A kubeconfig cannot be read.',
  CERTIFICATE_BUNDLE_MALFORMED: 'A CA bundle is not a complete list of PEM certificates.',

  // nodes, certificates, budget
  NODE_ADDRESS_MISSING: 'A Node has no address over which it can be reached.',
  NODE_NOT_FOUND: 'The Node that is asked for does not exist.',
  CSR_MALFORMED: 'A certificate signing request cannot be parsed.',
  CSR_REFUSED: 'A certificate signing request breaks a rule.',
  BUDGET_INVALID: 'The value of maxUnavailable is neither a whole number nor a percentage.',
  MACHINE_OWNER_MISSING: 'A Machine has no MachineSet that would replace it.',

  // connection to the API server
  API_UNREACHABLE: 'No connection to the API server can be made.',
  API_UNTRUSTED: 'The API server, or the proxy before it, shows a certificate that is not trusted.',
  API_CONNECTION_BROKEN: 'The connection to the API server broke before the answer was complete.',
  API_DEADLINE: 'The API server did not answer in time.',
  API_ANSWER_INVALID: 'The API server, or something between, sent an answer that cannot be understood.',
  API_CLIENT_CLOSED: 'The client was closed while a call was under way, or before it.',
  CREDENTIAL_UNREADABLE: 'A token, certificate or key for the API server cannot be read or used.',
  CREDENTIAL_PLUGIN_FAILED: 'The program that should give a credential for the API server failed.',

  // controllers, leadership, drain
  SYNC_TIMEOUT: 'A controller could not see the objects it works on in time.',
  PASS_TIMEOUT: 'One pass of a controller took longer than it may.',
  START_TIMEOUT: 'Some part of the program was not ready in time.',
  STOP_TIMEOUT: 'Some part of the program did not stop in time.',
  LEADERSHIP_LOST: 'Another process leads now, or the lease could not be renewed in time.',
  EVICTION_UNSUPPORTED: 'The API server offers no way to evict a pod that we know.',
  DRAIN_BLOCKED: 'Some pods could not be removed from a Node in time.',

  // agent
  JSONPATH_INVALID: 'A JSONPath template cannot be parsed.',
  JSONPATH_NO_VALUE: 'A JSONPath template does not give exactly one text.',
  COMMAND_VARIABLE_UNRESOLVED: 'A variable in the command line of a service has no value.',
  SERVICE_NOT_SETTLED: 'A Windows service did not reach the wanted state in time.',
  SERVICES_INCOMPLETE: 'Some services could not be brought into the wanted state.',
  NODE_NOT_READY: 'The Node did not become ready in time.',
  ENVIRONMENT_NOT_EFFECTIVE: 'A machine variable has another value in processes, even after a reboot.',
  CLEANUP_NO_SERVICES: 'No services ConfigMap exists to tell what has to be removed.',
  CLEANUP_INCOMPLETE: 'Some services could not be removed.',
} as const;

export type ErrorCode = keyof typeof errorCodes;
