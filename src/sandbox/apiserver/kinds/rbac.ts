import { sameData } from '#base/compare.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind } from '../kind.ts';
import { listAt, recordAt, textAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, createdColumn, nameColumn, textColumn, wide } from './columns.ts';

const rbac = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  nameRule: 'path',
  createsOnUpdate: true,
} as const;

const rule = {
  verbs: ['string'],
  apiGroups: ['string'],
  resources: ['string'],
  resourceNames: ['string'],
  nonResourceURLs: ['string'],
} as const;

const roleParts = {
  ...rbac,
  content: { rules: [rule] },
  columns: [nameColumn, createdColumn],
  prepareCreate: withRules,
  prepareUpdate: withRules,
} as const;

export const role: Kind = defineKind({
  ...roleParts,
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
  check: object => ruleCauses(object, true),
});

export const clusterRole: Kind = defineKind({
  ...roleParts,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
  check: object => ruleCauses(object, false),
});

const bindingContent = {
  subjects: [{ kind: 'string', apiGroup: 'string', name: 'string', namespace: 'string' }],
  roleRef: { apiGroup: 'string', kind: 'string', name: 'string' },
} as const;

const bindingParts = {
  ...rbac,
  content: bindingContent,
  columns: [
    nameColumn,
    textColumn('Role', object => `${textAt(object, 'roleRef.kind')}/${textAt(object, 'roleRef.name')}`),
    ageColumn,
    wide(textColumn('Users', object => subjectsText(object, 'User'))),
    wide(textColumn('Groups', object => subjectsText(object, 'Group'))),
    wide(textColumn('ServiceAccounts', object => subjectsText(object, 'ServiceAccount'))),
  ],
  prepareCreate: withGroups,
  prepareUpdate: withGroups,
  check: (object: StoredObject, old: StoredObject | undefined) => [
    ...bindingCauses(object),
    ...(old === undefined || sameData(object['roleRef'], old['roleRef'])
      ? []
      : [cause.invalid('roleRef', object['roleRef'], 'cannot change roleRef')]),
  ],
};

export const roleBinding: Kind = defineKind({
  ...bindingParts,
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
});

export const clusterRoleBinding: Kind = defineKind({
  ...bindingParts,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
});

/** The API server stores null for a role without rules. */
function withRules(object: StoredObject): StoredObject {
  return { ...object, rules: listAt(object, 'rules').length === 0 ? null : object['rules'] };
}

function ruleCauses(object: StoredObject, namespaced: boolean): StatusCause[] {
  return listAt(object, 'rules').flatMap((item, index) => {
    const field = `rules[${index}]`;
    const missing = (member: string): boolean => listAt(item, member).length === 0;
    const paths = !missing('nonResourceURLs');
    return [
      ...(missing('verbs') ? [cause.required(`${field}.verbs`, 'verbs must contain at least one value')] : []),
      ...(paths && namespaced
        ? [
            cause.invalid(
              `${field}.nonResourceURLs`,
              listAt(item, 'nonResourceURLs'),
              'namespaced rules cannot apply to non-resource URLs',
            ),
          ]
        : []),
      ...(!paths && missing('apiGroups')
        ? [cause.required(`${field}.apiGroups`, 'resource rules must supply at least one api group')]
        : []),
      ...(!paths && missing('resources')
        ? [cause.required(`${field}.resources`, 'resource rules must supply at least one resource')]
        : []),
    ];
  });
}

function withGroups(object: StoredObject): StoredObject {
  const subjects = listAt(object, 'subjects').map(subject =>
    textAt(subject, 'kind') === 'ServiceAccount' ? subject : { apiGroup: rbac.group, ...(subject as object) },
  );
  return {
    ...object,
    ...(subjects.length === 0 ? {} : { subjects }),
    roleRef: { apiGroup: rbac.group, ...recordAt(object, 'roleRef') },
  };
}

function bindingCauses(object: StoredObject): StatusCause[] {
  const kinds = object.kind === 'RoleBinding' ? ['ClusterRole', 'Role'] : ['ClusterRole'];
  const [kind, name] = [textAt(object, 'roleRef.kind'), textAt(object, 'roleRef.name')];
  return [
    ...(kinds.includes(kind) ? [] : [cause.unsupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [cause.required('roleRef.name')] : []),
    ...listAt(object, 'subjects').flatMap((subject, index) => subjectCauses(object, subject, `subjects[${index}]`)),
  ];
}

function subjectCauses(object: StoredObject, subject: unknown, field: string): StatusCause[] {
  const known = ['ServiceAccount', 'User', 'Group'];
  const kind = textAt(subject, 'kind');
  const needsNamespace = kind === 'ServiceAccount' && object.kind === 'ClusterRoleBinding';
  return [
    ...(textAt(subject, 'name') === '' ? [cause.required(`${field}.name`)] : []),
    ...(known.includes(kind) ? [] : [cause.unsupported(`${field}.kind`, kind, known)]),
    ...(needsNamespace && textAt(subject, 'namespace') === '' ? [cause.required(`${field}.namespace`)] : []),
  ];
}

function subjectsText(object: StoredObject, kind: string): string {
  return listAt(object, 'subjects')
    .filter(subject => textAt(subject, 'kind') === kind)
    .map(subject => {
      const account = kind === 'ServiceAccount' ? `${textAt(subject, 'namespace')}/` : '';
      return `${account}${textAt(subject, 'name')}`;
    })
    .join(', ');
}
