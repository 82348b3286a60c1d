import { instancePhases, journeyNames } from './resource.ts';
import { count, listOf, object, oneOf, type Schema, text, time } from './schema.ts';

const condition = object(
  'One aspect of the state of the host.',
  {
    type: text(
      'Accepted: the spec is valid and no other instance is the same host. Configured: the host is a Node and its ' +
        'agent has confirmed the version. Ready: configured, and the Node is ready. KubeletReachable: the operator ' +
        'reaches the kubelet on port 10250. KeyRefused: the host of a Machine rejects the SSH key. RolledBack: an ' +
        'upgrade failed, and the host runs its former version. SettingsApplied: the host has the settings of the ' +
        'cluster; missing until that failed once. KeyCurrent: the host accepts the current SSH key of the operator; ' +
        'missing until it rejected one.',
    ),
    status: oneOf(['True', 'False', 'Unknown'], 'Whether the condition holds. Unknown: it is not known now.'),
    reason: text('Error code (docs/reference/errors.md), or a word such as Joined, Configuring or Paused.'),
    message: text('What happened, and what you can do about it.'),
    lastTransitionTime: time('When the status of the condition last changed.'),
    observedGeneration: count('Generation of the spec that the condition is about.'),
  },
  { required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'] },
);

const lastError = object(
  'Why the last attempt failed. Missing once the step has succeeded.',
  {
    code: text('Stable error code (docs/reference/errors.md).'),
    message: text('What went wrong, with object and value.'),
    remedy: text('What you can do about it, with the exact command or path.'),
  },
  { required: ['code', 'message', 'remedy'] },
);

const timelineStep = object(
  'One step of the journey of the host.',
  {
    name: text('Name of the step, as in docs/lifecycle.md.'),
    started: time('Start of the latest attempt.'),
    firstStarted: time('Start of the first attempt, if there were several.'),
    finished: time('End of the successful attempt. Missing while the step runs or fails.'),
    attempts: { type: 'integer', description: 'How often the step was started.' },
    lastError,
  },
  { required: ['name', 'started', 'attempts'] },
);

const identity = (description: string): Schema =>
  object(
    description,
    {
      keyHash: text('SHA-256 of the public key, in hexadecimal.'),
      installed: time('When the agent was last installed with this key.'),
      certificateEnds: time('End of the newest certificate that was issued for the key.'),
    },
    { required: ['keyHash', 'installed'] },
  );

const token = object(
  'A token that the host was given. It is identified by its id, which is not a secret.',
  {
    id: text('Id of the token, as the API server writes it into certificate requests.'),
    use: oneOf(['kubelet', 'agent'], 'Whose certificate the token can request.'),
    expires: time('When the token expires.'),
  },
  { required: ['id', 'use', 'expires'] },
);

const key = object(
  'The SSH key of the operator that the host accepts, by the SHA-256 of its public key as in the annotation pub-key-hash.',
  {
    hash: text('Hash of the key that last worked.'),
    fingerprint: text('Its type and fingerprint, as `ssh-keygen -lf` prints it.'),
    former: listOf('Keys that the operator has replaced on the host and will remove.', text('Hash of the public key.')),
    pending: object(
      'A newer key that the host rejected; the operator tries it again.',
      {
        hash: text('Hash of that key.'),
        since: time('When the host first rejected it.'),
        tried: time('When the host last rejected it.'),
        retry: text('Value of the annotation retry at that time.'),
      },
      { required: ['hash', 'since', 'tried'] },
    ),
  },
  { required: ['hash'] },
);

const setting = (description: string): Schema =>
  object(
    description,
    {
      desired: text('Hash of what the host should have.'),
      applied: text('Hash of what the host has.'),
      at: time('When the host got what it has.'),
      failed: object(
        'Why the host could not get what it should have. Other hosts do not get it either.',
        {
          code: text('Stable error code (docs/reference/errors.md).'),
          message: text('What went wrong.'),
          at: time('When it was noticed.'),
        },
        { required: ['code', 'message', 'at'] },
      ),
    },
    { required: ['desired'] },
  );

export const statusSchema = object('What the operator has found out about the host. Only the operator writes it.', {
  phase: oneOf(
    instancePhases,
    'What happens to the host now. Failed: see the condition Configured or Accepted for the reason and what to do.',
  ),
  step: text('Current step of the host, as in docs/lifecycle.md. Missing when no journey runs.'),
  nextAttempt: time('When a failed host is retried at the latest. Missing when no retry is due.'),
  progress: object(
    'Progress of the current upload to the host.',
    {
      bytes: count('Bytes that were uploaded.'),
      totalBytes: count('Bytes of the whole upload.'),
      started: time('When the first byte was sent.'),
    },
    { required: ['bytes', 'totalBytes'] },
  ),
  activity: object(
    'What the current step does, and how long that usually takes.',
    {
      since: time('Start of the current attempt of the step.'),
      waitsFor: text('What the step waits for.'),
      usualSeconds: count(
        'How long the step takes on a healthy host. Not set for steps whose duration cannot be known.',
      ),
      limitSeconds: count('The step fails after this time, and the operator retries the host.'),
      remedy: text('What to check. Set when the step has taken more than twice the usual time.'),
    },
    { required: ['since', 'limitSeconds'] },
  ),
  reboot: object(
    'The last reboot that the operator requested in this journey.',
    {
      bootId: text('Boot of the host in which the reboot was requested.'),
      because: text('Why the host was rebooted.'),
    },
    { required: ['bootId', 'because'] },
  ),
  journey: object(
    'The journey that runs, or waits for its next attempt. Missing when the host is at rest.',
    {
      name: oneOf(journeyNames, 'What is done to the host.'),
      cause: text('Why it was started.'),
      started: time('When it was started.'),
    },
    { required: ['name', 'cause', 'started'] },
  ),
  node: text('Name of the Node of the host.'),
  nodeUID: text('UID of the Node that the operator has labeled.'),
  hostKey: text('Pinned SSH host key, as `<type> <base64>`. To accept another one set spec.hostKey.'),
  key,
  touched: time('When the operator first changed something on the host. Missing: nothing has to be cleaned there.'),
  host: object(
    'What the host reported over the pinned SSH connection.',
    {
      name: text('Name under which its kubelet registers the Node.'),
      addresses: listOf(
        'Addresses of the host.',
        text('The address that the operator connected to, or that of the default route.'),
      ),
    },
    { required: ['name', 'addresses'] },
  ),
  certifiedName: text(
    'Node name for which a kubelet certificate was approved. The host keeps this name until the instance is deleted.',
  ),
  tokens: listOf('Tokens that were given to the host and have not expired.', token),
  agent: identity('Key of the agent on the host.'),
  cloudNode: identity('Key of cloud-node-manager on the host (Azure only).'),
  ipv4: text('IPv4 address to which spec.address resolved.'),
  version: text('Version of the operator that configured the host.'),
  upgrade: object(
    'The last upgrade of the host.',
    {
      from: text('Version before the upgrade.'),
      to: text('Version of the upgrade.'),
      fromAgent: text('SHA-256 of the agent program of the version before, which stays on the host.'),
      staged: time('When the files of the new version were complete on the host.'),
      activated: time('When the host was ordered to swap its files.'),
      ready: time('When the Node was in service again.'),
      soaked: time('When the soak was over.'),
      failed: object(
        'Why the host goes back to the version before.',
        {
          code: text('Stable error code (docs/reference/errors.md).'),
          message: text('What went wrong.'),
          at: time('When it was noticed.'),
        },
        { required: ['code', 'message', 'at'] },
      ),
      rolledBack: time('When the host ran the version before again.'),
      retry: text('Value of the annotation retry when the upgrade failed. Another value starts it again.'),
      repeated: time('When the host was set up again with its own version, because its Node claimed another one.'),
      settings: object(
        'Settings that were staged with the files.',
        {
          files: text('Hash of the files.'),
          services: text('Hash of the services.'),
          proxy: { type: 'boolean', description: 'Whether the services use a proxy.' },
        },
        { required: ['files', 'services'] },
      ),
    },
    { required: ['from', 'to'] },
  ),
  settings: object('Settings of the cluster on the host.', {
    files: setting('Files that take effect at once: registries and certificates.'),
    services: setting('Services, and files that they read when they start.'),
    proxy: { type: 'boolean', description: 'Whether the services of the host use a proxy.' },
    mirrors: listOf('Mirror files of the host, the first of many.', text('Path below C:\\k\\containerd\\registries.')),
  }),
  reboots: listOf('When the host was rebooted on request, in the last day.', time('Time of the request.')),
  rebootRequest: text('Value of the annotation reboot that was carried out last.'),
  observedGeneration: count('Generation of the spec that the operator last worked on.'),
  conditions: listOf(
    'State of the host by aspect. Wait for one with `kubectl wait --for=condition=Ready`.',
    condition,
    {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  ),
  timeline: listOf('Steps of the current or last journey, in their order.', timelineStep),
});
