import { instanceSources } from './resource.ts';
import { listOf, object, oneOf, text } from './schema.ts';

/** IPv4 address or host name; the operator checks more than a pattern can. */
const addressPattern = '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$';

/** A NetBIOS name, as Windows requires. */
export const computerNamePattern = '^[A-Za-z0-9]([A-Za-z0-9-]{0,13}[A-Za-z0-9])?$';

const keySecret = object(
  'Secret with the private key for SSH. Default: the Secret cloud-private-key.',
  {
    name: text('Name of a Secret in the namespace of the operator.', { minLength: 1 }),
    key: text('Key of the Secret under which the private key is stored, as PEM. Default: private-key.pem.'),
  },
  { required: ['name'] },
);

const source = object(
  'What the instance was created from. The operator sets it; leave it out of an instance that you create.',
  {
    kind: oneOf(
      instanceSources,
      'Machine: of a Windows Machine. ConfigMap: of an entry of windows-instances. Direct: created by you. ' +
        'To remove a host that is not Direct, delete its Machine or its entry.',
    ),
    name: text('Name of the Machine, or address of the entry in the ConfigMap windows-instances.'),
  },
  { required: ['kind'] },
);

const taints = listOf(
  'Taints for the Node, in addition to os=Windows:NoSchedule, which every Windows Node has.',
  object(
    'A taint keeps pods without a matching toleration away from the Node.',
    {
      key: text('Key of the taint, such as dedicated.', { minLength: 1 }),
      value: text('Value of the taint, such as database. Default: empty.'),
      effect: oneOf(
        ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
        'NoSchedule keeps new pods away, PreferNoSchedule avoids them, NoExecute also evicts running pods.',
      ),
    },
    { required: ['key', 'effect'] },
  ),
);

export const specSchema = object(
  'The host, how the operator connects to it, and what is set on its Node.',
  {
    address: text('IPv4 address of the host, or a DNS name that resolves to one, such as win1.example.com.', {
      maxLength: 253,
      pattern: addressPattern,
    }),
    port: {
      type: 'integer',
      description: 'TCP port of the SSH server on the host. Default: 22.',
      minimum: 1,
      maximum: 65535,
    },
    username: text('Windows user with administrator rights for SSH, such as Administrator or CORP\\svc-wmco.', {
      minLength: 1,
      maxLength: 256,
    }),
    keySecret,
    hostKey: text(
      'SSH host key that the host must show, as `<type> <base64>`; `ssh-keyscan <address>` prints it. ' +
        'Default: the key that the host shows first is pinned. Set it to accept the new key of a reinstalled host.',
    ),
    hostname: text('New computer name of the host, set before it joins. Default: the host keeps its name.', {
      maxLength: 15,
      pattern: computerNamePattern,
    }),
    source,
    labels: {
      type: 'object',
      description: 'Labels for the Node, such as zone: a.',
      additionalProperties: { type: 'string', description: 'Value of the label.' },
    },
    taints,
    paused: {
      type: 'boolean',
      description: 'While true the operator does not change the host, for example during maintenance. Default: false.',
    },
    servingNames: listOf(
      'Further names for the serving certificate of the kubelet, beside the node name and the addresses of the host.',
      text('DNS name or IP address, such as win1.corp.example.', { minLength: 1, maxLength: 253 }),
      { maxItems: 16 },
    ),
  },
  { required: ['address', 'username'] },
);
