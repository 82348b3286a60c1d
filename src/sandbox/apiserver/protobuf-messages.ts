/** Fields of a message by number. */
export interface Message {
  readonly [number: number]: {
    readonly name: string;
    readonly is: 'string' | 'bytes' | 'integer' | 'boolean' | 'time' | Message;
    readonly many?: 'list' | 'map';
  };
}

const text = (name: string) => ({ name, is: 'string' }) as const;
const texts = (name: string) => ({ name, is: 'string', many: 'list' }) as const;
const bytes = (name: string) => ({ name, is: 'bytes' }) as const;
const integer = (name: string) => ({ name, is: 'integer' }) as const;
const flag = (name: string) => ({ name, is: 'boolean' }) as const;
const time = (name: string) => ({ name, is: 'time' }) as const;
const one = (name: string, is: Message) => ({ name, is });
const list = (name: string, is: Message) => ({ name, is, many: 'list' }) as const;
const map = (name: string, value: Message[number]) =>
  ({ name, is: { 1: text('key'), 2: { ...value, name: 'value' } }, many: 'map' }) as const;

const ownerReference: Message = {
  1: text('kind'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
  6: flag('controller'),
  7: flag('blockOwnerDeletion'),
};

const objectMeta: Message = {
  1: text('name'),
  2: text('generateName'),
  3: text('namespace'),
  5: text('uid'),
  6: text('resourceVersion'),
  8: time('creationTimestamp'),
  9: time('deletionTimestamp'),
  10: integer('deletionGracePeriodSeconds'),
  11: map('labels', text('value')),
  12: map('annotations', text('value')),
  13: list('ownerReferences', ownerReference),
  14: texts('finalizers'),
};

const deleteOptions: Message = {
  1: integer('gracePeriodSeconds'),
  2: one('preconditions', { 1: text('uid'), 2: text('resourceVersion') }),
  4: text('propagationPolicy'),
  5: texts('dryRun'),
};

const resourceAttributes: Message = {
  1: text('namespace'),
  2: text('verb'),
  3: text('group'),
  4: text('version'),
  5: text('resource'),
  6: text('subresource'),
  7: text('name'),
};

const accessSpec: Message = {
  1: one('resourceAttributes', resourceAttributes),
  2: one('nonResourceAttributes', { 1: text('path'), 2: text('verb') }),
};

const condition: Message = {
  1: text('type'),
  2: text('reason'),
  3: text('message'),
  4: time('lastUpdateTime'),
  5: time('lastTransitionTime'),
  6: text('status'),
};

const requestSpec: Message = {
  1: bytes('request'),
  2: text('username'),
  3: text('uid'),
  4: texts('groups'),
  5: texts('usages'),
  7: text('signerName'),
  8: integer('expirationSeconds'),
};

const tokenSpec: Message = {
  1: texts('audiences'),
  3: one('boundObjectRef', { 1: text('kind'), 2: text('apiVersion'), 3: text('name'), 4: text('uid') }),
  4: integer('expirationSeconds'),
};

const rule: Message = {
  1: texts('verbs'),
  2: texts('apiGroups'),
  3: texts('resources'),
  4: texts('resourceNames'),
  5: texts('nonResourceURLs'),
};

const subject: Message = { 1: text('kind'), 2: text('apiGroup'), 3: text('name'), 4: text('namespace') };

const objectReference: Message = { 1: text('kind'), 2: text('namespace'), 3: text('name') };

const withSpec = (spec: Message): Message => ({ 1: one('metadata', objectMeta), 2: one('spec', spec) });

/** The messages that kubectl sends, and their envelope. */
export const messages = {
  envelope: { 1: one('typeMeta', { 1: text('apiVersion'), 2: text('kind') }), 2: bytes('raw') },
  time: { 1: integer('seconds') },
  configMap: {
    1: one('metadata', objectMeta),
    2: map('data', text('value')),
    3: map('binaryData', bytes('value')),
    4: flag('immutable'),
  },
  secret: {
    1: one('metadata', objectMeta),
    2: map('data', bytes('value')),
    3: text('type'),
    4: map('stringData', text('value')),
    5: flag('immutable'),
  },
  namespace: { 1: one('metadata', objectMeta) },
  serviceAccount: {
    1: one('metadata', objectMeta),
    2: list('secrets', objectReference),
    3: list('imagePullSecrets', { 1: text('name') }),
    4: flag('automountServiceAccountToken'),
  },
  role: { 1: one('metadata', objectMeta), 2: list('rules', rule) },
  roleBinding: {
    1: one('metadata', objectMeta),
    2: list('subjects', subject),
    3: one('roleRef', { 1: text('apiGroup'), 2: text('kind'), 3: text('name') }),
  },
  deleteOptions,
  eviction: { 1: one('metadata', objectMeta), 2: one('deleteOptions', deleteOptions) },
  selfSubjectAccessReview: withSpec(accessSpec),
  selfSubjectRulesReview: withSpec({ 1: text('namespace') }),
  subjectAccessReview: withSpec({ ...accessSpec, 3: text('user'), 4: texts('groups'), 6: text('uid') }),
  tokenRequest: withSpec(tokenSpec),
  tokenReview: withSpec({ 1: text('token'), 2: texts('audiences') }),
  certificateSigningRequest: {
    ...withSpec(requestSpec),
    3: one('status', { 1: list('conditions', condition), 2: bytes('certificate') }),
  },
} as const satisfies Record<string, Message>;
