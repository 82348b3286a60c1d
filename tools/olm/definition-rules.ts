import { isDeepStrictEqual } from 'node:util';
import { validateAndPrune } from '../../src/sandbox/apiserver/schema/schema-validator.ts';
import { type BundleContent, type Json, listAt, type Manifest, member, textAt } from './read.ts';
import { type Rule, when } from './rule.ts';

/** Whether the CustomResourceDefinitions, and what the ClusterServiceVersion says of them, fit together. */
export const definitionRules: readonly Rule<BundleContent>[] = [
  {
    name: 'definitions',
    check: ({ manifests }) =>
      definitionsIn(manifests).flatMap(({ path, object }) => {
        const { group, names, versions } = {
          group: textAt(object, 'spec', 'group'),
          names: member(object, 'spec', 'names'),
          versions: listAt(object, 'spec', 'versions'),
        };
        return [
          ...when(
            object.metadata?.name !== `${textAt(names, 'plural')}.${group}`,
            `${path}: the name is not PLURAL.GROUP`,
          ),
          ...when(versions.filter(({ storage }) => storage === true).length !== 1, `${path}: not one stored version`),
          ...versions
            .filter(version => textAt(version, 'schema', 'openAPIV3Schema', 'type') !== 'object')
            .map(({ name }) => `${path}: ${String(name)} has no schema`),
          ...versions
            .filter(({ deprecated, served }) => deprecated === true || served !== true)
            .map(({ name }) => `${path}: ${String(name)} is deprecated or not served`),
        ];
      }),
  },
  {
    name: 'valid examples',
    check: ({ csv, manifests }) =>
      examplesIn(csv).flatMap(example => {
        const schema = schemaOf(manifests, example);
        const { object, causes } = validateAndPrune(schema, example as Parameters<typeof validateAndPrune>[1]);
        const name = textAt(example, 'metadata', 'name');
        return [
          ...causes.map(({ field, message }) => `example ${name}: ${field} ${message}`),
          ...when(!hasAll(object, example), `example ${name} has fields that the definition does not have`),
        ];
      }),
  },
  {
    name: 'descriptors',
    check: ({ csv, manifests }) =>
      listAt(csv, 'spec', 'customresourcedefinitions', 'owned').flatMap(owned => {
        const group = textAt(owned, 'name').replace(/^[^.]*\./, '');
        const schema = schemaOf(manifests, { apiVersion: `${group}/${textAt(owned, 'version')}`, ...owned });
        const examples = examplesIn(csv).filter(each => each['kind'] === owned['kind']);
        return [
          ...['spec', 'status'].flatMap(part =>
            listAt(owned, `${part}Descriptors`)
              .map(each => textAt(each, 'path'))
              .filter(path => fieldAt(schema, [part, ...path.split('.')]) === undefined)
              .map(path => `${part}.${path} is described, but not defined`),
          ),
          ...examples
            .flatMap(each => Object.keys(member(each, 'spec')))
            .filter(
              field => !listAt(owned, 'specDescriptors').some(each => textAt(each, 'path').split('.')[0] === field),
            )
            .map(field => `spec.${field} of an example is not described`),
        ];
      }),
  },
  {
    name: 'newest OpenShift',
    check: ({ csv, annotations }) => {
      const [, newest] = /-v(\d+\.\d+)$/.exec(textAt(annotations, 'com.redhat.openshift.versions')) ?? [];
      const properties = jsonList(csv.metadata?.annotations?.['olm.properties'] ?? '');
      const limit = properties.find(({ type }) => type === 'olm.maxOpenShiftVersion')?.['value'];
      return when(limit !== newest, `olm.maxOpenShiftVersion is ${String(limit)}, but the bundle is up to ${newest}`);
    },
  },
];

type Manifests = BundleContent['manifests'];

const definitionsIn = (manifests: Manifests) =>
  manifests.filter(({ object: { kind } }) => kind === 'CustomResourceDefinition');

const examplesIn = (csv: Manifest) => jsonList(csv.metadata?.annotations?.['alm-examples'] ?? '');

/** The schema of the kind and version of an object. */
function schemaOf(manifests: Manifests, { apiVersion, kind }: Json): Json {
  for (const { object } of definitionsIn(manifests))
    for (const version of listAt(object, 'spec', 'versions')) {
      const isIt = `${textAt(object, 'spec', 'group')}/${textAt(version, 'name')}` === apiVersion;
      if (isIt && textAt(object, 'spec', 'names', 'kind') === kind) return member(version, 'schema', 'openAPIV3Schema');
    }
  return {};
}

function fieldAt(schema: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((current, name) => {
    const found = member(current, 'properties', name);
    return Object.keys(found).length === 0 ? undefined : found;
  }, schema);
}

/** Whether nothing of the second is missing in the first; defaults may have been added. */
function hasAll(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return isDeepStrictEqual(actual, wanted);
  return Object.entries(wanted).every(([name, value]) => hasAll(member({ actual }, 'actual')[name], value));
}

function jsonList(text: string): Json[] {
  try {
    return listAt({ list: JSON.parse(text) as unknown }, 'list');
  } catch {
    return [];
  }
}
