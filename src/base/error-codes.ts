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

  // hosts over SSH
  HOST_UNREACHABLE: 'No TCP connection to the SSH port of a host can be made.',
  HOST_NOT_SSH: 'Whoever answers at the SSH port of a host does not speak SSH.',
  HOST_HANDSHAKE_FAILED: 'A host broke off the SSH handshake or did not finish it in time.',
  HOST_ALGORITHM_MISMATCH: 'A host and the operator have no SSH algorithm in common.',
  HOST_REFUSED_KEY: 'A host does not let in the user with the operator’s private key.',
  HOST_WANTS_PASSWORD: 'A host lets users in by password only, or by password in addition to a key.',
  HOST_CONNECTION_LOST: 'The connection to a host broke, or was closed, while it was needed.',
  HOST_COMMAND_REFUSED: 'A host did not start a command.',
  HOST_COMMAND_TIMEOUT: 'A command on a host took longer than it may.',
  HOST_COMMAND_NO_EXIT_CODE: 'A command on a host ended without an exit code.',
  HOST_OUTPUT_TOO_LONG: 'A command or a file on a host gave more than is accepted.',
  HOST_SFTP_MISSING: 'A host offers no file transfer over SSH.',
  HOST_TRANSFER_TIMEOUT: 'A file transfer took longer than it may, or stood still.',
  HOST_FILE_MISSING: 'A file or folder on a host does not exist.',
  HOST_FILE_DENIED: 'The user on a host may not read or write a file.',
  HOST_FILE_FAILED: 'A host could not read or write a file.',
  HOST_DISK_FULL: 'The disk of a host has no room for a file.',

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
  API_REFUSED: 'The API server refused a request.',
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
  INTERRUPTED: 'A command was told to stop before it had come to its end.',
  INTERNAL_ERROR: 'The program has met a mistake of its own.',
  JSONPATH_INVALID: 'A JSONPath template cannot be parsed.',
  JSONPATH_NO_VALUE: 'A JSONPath template does not give exactly one text.',
  COMMAND_VARIABLE_UNRESOLVED: 'A variable in the command line of a service has no value.',
  SERVICE_NOT_SETTLED: 'A Windows service did not reach the wanted state in time.',
  SERVICES_INCOMPLETE: 'Some services could not be brought into the wanted state.',
  NODE_NOT_READY: 'The Node did not become ready in time.',
  ENVIRONMENT_NOT_EFFECTIVE: 'A machine variable has another value in processes, even after a reboot.',
  AGENT_UNIDENTIFIED: 'The agent has no credential that the API server accepts.',
  AGENT_CERTIFICATE_NOT_ISSUED: 'The client certificate that the agent asked for was refused or did not come in time.',
  AGENT_CERTIFICATE_UNUSABLE: 'A file that should hold the client certificate and key of the agent cannot be used.',
  AGENT_CLOCK_WRONG: 'The clocks of the host and of the cluster are too far apart for certificates.',
  CLEANUP_NO_SERVICES: 'No services ConfigMap exists to tell what has to be removed.',
  CLEANUP_INCOMPLETE: 'Some services could not be removed.',
  HOST_VALUE_UNKNOWN: 'The host, or its cloud, does not tell a value that the command of a service needs.',
  HOST_NETWORK_MISSING: 'The network of the hybrid overlay, or a part of it, is not there on the host.',
  HOST_NAME_INVALID: 'A name cannot be the name of a Windows host.',
  SCRIPT_TIMEOUT: 'A PowerShell script of a service did not end in time.',
  FILE_DAMAGED: 'A file on the host is not as it should be, and there is no good copy to put it right from.',
  BUNDLE_MALFORMED: 'A bundle of files for a host cannot be read, or has a file for a place where none may go.',
  BUNDLE_DAMAGED: 'A bundle, or a file in it, does not have the hash that it should have.',
  AGENT_ANSWER_INVALID: 'The agent of a host gave an answer that cannot be understood.',

  // Windows, as the agent meets it
  WINDOWS_CALL_FAILED: 'Windows refused something that the agent asked for.',
  WINDOWS_ACCESS_DENIED: 'The rights of the process do not suffice for what the agent has to do.',
  WINDOWS_NATIVE_UNUSABLE: 'The native part of the agent cannot be put in place, or cannot be loaded.',
  WINDOWS_ANSWER_INVALID: 'Windows gave an answer that cannot be understood.',
  PROGRAM_FAILED: 'A program of Windows that the agent has to run failed, or cannot be started.',
  PROGRAM_TIMEOUT: 'A program of Windows that the agent has to run did not end in time.',
  SCRIPT_FAILED: 'A PowerShell script of a service failed.',
  HOST_FILE_UNUSABLE: 'A file or folder of the host cannot be read, written or removed.',
  HOST_NETWORK_FAILED: 'The Host Networking Service of Windows refused a request, or did not answer.',
  HOST_NAME_UNCHANGEABLE: 'The host cannot be renamed by the agent.',
  CONTAINERS_FEATURE_MISSING: 'The Containers feature of Windows, or the reboot that completes it, is missing.',
  WINDOWS_NOT_A_SERVICE: 'The agent has to run as a Windows service, but the service manager did not start it.',
  WINDOWS_SERVICE_MISSING: 'A Windows service does not exist.',
  WINDOWS_SERVICE_EXISTS: 'A Windows service that is to be created exists already.',
  WINDOWS_SERVICE_DELETED: 'A Windows service is marked for deletion and cannot be changed any more.',
  WINDOWS_SERVICE_DISABLED: 'A Windows service is disabled and cannot be started.',
  WINDOWS_SERVICE_DEPENDENCY: 'A service on which a Windows service depends is missing or does not start.',
  WINDOWS_SERVICE_START_TIMEOUT: 'A Windows service did not answer in time when it was started.',
} as const;

export type ErrorCode = keyof typeof errorCodes;
