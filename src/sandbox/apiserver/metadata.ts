import { sameData } from '#base/compare.ts';
import type { StatusCause } from '#kube/api-error.ts';
import type { OwnerReference } from '#kube/resource.ts';
import { labelKeyProblem, labelValueProblem, type NameRule, nameProblems } from './names.ts';
import type { StoredObject } from './ports.ts';
import { fitShape, type Shape, ShapeMismatch } from './shape.ts';
import { cause } from './status.ts';

type Metadata = StoredObject['metadata'];

interface Rules {
  nameRule: NameRule;
  group: string;
  custom: boolean;
}

/** Finalizers of custom resources and CRDs need no domain. */
function takesAnyFinalizer({ group, custom }: Rules): boolean {
  return custom || group === 'apiextensions.k8s.io';
}

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

const maxAnnotationBytes = 256 * 1024;

/** Validates the metadata of a new object. */
export function newMetadataCauses(metadata: Metadata, rules: Rules): StatusCause[] {
  const { nameRule: rule } = rules;
  const { name = '', generateName = '' } = metadata;
  return [
    ...(generateName === '' ? [] : nameCauses(rule, 'metadata.generateName', generateName)),
    ...(name === ''
      ? [cause.required('metadata.name', 'name or generateName is required')]
      : nameCauses(rule, 'metadata.name', name)),
    ...contentCauses(metadata),
    ...finalizerCauses(metadata.finalizers ?? [], rules),
  ];
}

/** Validates changed metadata, after missing members were filled in. */
export function changedMetadataCauses(next: Metadata, old: Metadata, rules: Rules): StatusCause[] {
  const added = (next.finalizers ?? []).filter(name => !(old.finalizers ?? []).includes(name));
  const found = `found new finalizers []string{${added.map(name => `"${name}"`).join(', ')}}`;
  const fixed = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const;
  return [
    ...finalizerCauses(next.finalizers ?? [], rules),
    ...(old.deletionTimestamp !== undefined && added.length > 0
      ? [
          cause.forbidden(
            'metadata.finalizers',
            `no new finalizers can be added if the object is being deleted, ${found}`,
          ),
        ]
      : []),
    ...(next.resourceVersion === undefined
      ? [cause.invalid('metadata.resourceVersion', '', 'must be specified for an update')]
      : []),
    ...fixed.flatMap(field =>
      next[field] === old[field] ? [] : [cause.invalid(`metadata.${field}`, next[field], 'field is immutable')],
    ),
    ...contentCauses(next),
  ];
}

/** The members of metadata that the server keeps. */
export const metadataShape = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'integer',
  creationTimestamp: 'time',
  deletionTimestamp: 'time',
  deletionGracePeriodSeconds: 'integer',
  labels: 'strings',
  annotations: 'strings',
  ownerReferences: [
    {
      apiVersion: 'string',
      kind: 'string',
      name: 'string',
      uid: 'string',
      controller: 'boolean',
      blockOwnerDeletion: 'boolean',
    },
  ],
  finalizers: ['string'],
} as const satisfies Shape;

/** Drops unknown and empty members; undefined for a value of the wrong type. */
export function readMetadata(value: unknown): Metadata | undefined {
  try {
    const members = Object.entries(fitShape(metadataShape, value) as Metadata);
    return Object.fromEntries(members.filter(([, member]) => member !== ''));
  } catch (error) {
    if (error instanceof ShapeMismatch) return undefined;
    throw error;
  }
}

function nameCauses(rule: NameRule, field: string, name: string): StatusCause[] {
  return nameProblems(rule, name, field.endsWith('generateName')).map(problem => cause.invalid(field, name, problem));
}

function contentCauses(metadata: Metadata): StatusCause[] {
  return [
    ...labelCauses('metadata.labels', metadata.labels ?? {}),
    ...annotationCauses(metadata.annotations ?? {}),
    ...ownerCauses(metadata.ownerReferences ?? []),
  ];
}

export function labelCauses(field: string, labels: Record<string, string>): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const [keyProblem, valueProblem] = [labelKeyProblem(key), labelValueProblem(value)];
    return [
      ...(keyProblem === undefined ? [] : [cause.invalid(field, key, keyProblem)]),
      ...(valueProblem === undefined ? [] : [cause.invalid(field, value, valueProblem)]),
    ];
  });
}

function annotationCauses(annotations: Record<string, string>): StatusCause[] {
  const field = 'metadata.annotations';
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(value), 0);
  return [
    ...Object.keys(annotations).flatMap(key => {
      const problem = labelKeyProblem(key.toLowerCase());
      return problem === undefined ? [] : [cause.invalid(field, key, problem)];
    }),
    ...(bytes > maxAnnotationBytes ? [cause.tooLong(field, `must have at most ${maxAnnotationBytes} bytes`)] : []),
  ];
}

function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

function ownerCauses(owners: readonly Partial<OwnerReference>[]): StatusCause[] {
  const field = 'metadata.ownerReferences';
  const required = { apiVersion: 'version', kind: 'kind', name: 'name', uid: 'uid' } as const;
  const controllers = owners.filter(owner => owner.controller === true);
  return [
    ...owners.flatMap(owner =>
      (['apiVersion', 'kind', 'name', 'uid'] as const)
        .filter(member => (owner[member] ?? '') === '')
        .map(member => cause.invalid(`${field}.${member}`, '', `${required[member]} must not be empty`)),
    ),
    ...(controllers.length > 1
      ? [
          cause.invalid(
            field,
            owners,
            `Only one reference can have Controller set to true. Found "true" in references for ${controllers[0]?.name} and ${controllers[1]?.name}`,
          ),
        ]
      : []),
  ];
}

function finalizerCauses(finalizers: readonly string[], rules: Rules): StatusCause[] {
  const field = 'metadata.finalizers';
  const unqualified = 'name is neither a standard finalizer name nor is it fully qualified';
  return finalizers.flatMap((name, index) => {
    const problem = labelKeyProblem(name);
    if (problem !== undefined) return [cause.invalid(field, name, problem)];
    const known = takesAnyFinalizer(rules) || name.includes('/') || standardFinalizers.includes(name);
    return known ? [] : [cause.invalid(`${field}[${index}]`, name, unqualified)];
  });
}

/** Compares objects regardless of their resourceVersion. */
export function sameContent(one: StoredObject, other: StoredObject): boolean {
  const { resourceVersion } = one.metadata;
  return sameData(one, { ...other, metadata: { ...other.metadata, resourceVersion } });
}
