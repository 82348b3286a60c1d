import { listAt, type Manifest, member, textAt } from './read.ts';
import { type Rule, when } from './rule.ts';

/** Annotations that the certification of Red Hat asks for, beside those that only a release has. */
const neededAnnotations = ['categories', 'containerImage', 'description', 'repository', 'support'];
const maturities = ['planning', 'pre-alpha', 'alpha', 'beta', 'stable', 'mature', 'inactive', 'deprecated'];
/** Each entry of a catalog and each ClusterServiceVersion in a cluster has the icon. */
const maxIconBytes = 10_000;

const annotationsOf = ({ metadata }: Manifest) => metadata?.annotations ?? {};

/** What catalogs, the certification and the web console ask of a ClusterServiceVersion, beyond its format. */
export const publicationRules: readonly Rule<Manifest>[] = [
  {
    name: 'needed fields',
    check: csv => [
      ...['keywords', 'maintainers', 'links']
        .filter(field => !Array.isArray(specOf(csv)[field]) || (specOf(csv)[field] as unknown[]).length === 0)
        .map(field => `spec.${field} is empty`),
      ...when(Object.keys(member(csv, 'spec', 'labels')).length === 0, 'spec.labels is empty'),
      ...neededAnnotations
        .filter(name => (annotationsOf(csv)[name] ?? '').trim() === '')
        .map(name => `the annotation ${name} is missing`),
    ],
  },
  {
    name: 'subscription',
    check: csv => {
      const text = annotationsOf(csv)['operators.openshift.io/valid-subscription'] ?? '';
      return when(!isListOfTexts(text), 'valid-subscription is no list of texts in JSON');
    },
  },
  {
    name: 'maturity',
    check: csv => {
      const maturity = textAt(csv, 'spec', 'maturity');
      return when(!maturities.includes(maturity), `${JSON.stringify(maturity)} is no maturity`);
    },
  },
  {
    name: 'own namespace only',
    check: csv =>
      listAt(csv, 'spec', 'installModes')
        .filter(({ type, supported }) => supported !== (type === 'OwnNamespace'))
        .map(({ type, supported }) => `${String(type)} is ${supported === true ? '' : 'not '}supported`),
  },
  {
    name: 'monitoring',
    check: csv =>
      when(
        annotationsOf(csv)['operatorframework.io/cluster-monitoring'] !== 'true',
        'the console does not offer cluster monitoring',
      ),
  },
  {
    name: 'uninstalling keeps nodes',
    check: csv => [
      ...when(
        annotationsOf(csv)['console.openshift.io/disable-operand-delete'] !== 'true',
        'the console offers to delete all instances',
      ),
      ...when(
        (annotationsOf(csv)['operator.openshift.io/uninstall-message'] ?? '') === '',
        'the console does not say what happens to nodes',
      ),
      ...when(member(csv, 'spec', 'cleanup')['enabled'] === true, 'OLM deletes all instances with the operator'),
    ],
  },
  {
    name: 'owned resources',
    check: csv =>
      listAt(csv, 'spec', 'customresourcedefinitions', 'owned').flatMap(each => [
        ...['displayName', 'description']
          .filter(field => textAt(each, field) === '')
          .map(field => `${textAt(each, 'name')} has no ${field}`),
        ...when(listAt(each, 'resources').length === 0, `${textAt(each, 'name')} names no resources`),
      ]),
  },
  {
    name: 'definitions are those of OLM',
    check: csv =>
      ['permissions', 'clusterPermissions']
        .flatMap(key => listAt(csv, 'spec', 'install', 'spec', key))
        .flatMap(each => listAt(each, 'rules'))
        .filter(rule => has(rule, 'resources', /^customresourcedefinitions$/) && has(rule, 'verbs', changes))
        .map(() => 'the operator may change CustomResourceDefinitions'),
  },
  {
    name: 'small icon',
    check: csv =>
      listAt(csv, 'spec', 'icon').flatMap(each => {
        const image = Buffer.from(textAt(each, 'base64data'), 'base64');
        const isForeign = /<script|<foreignObject|\son\w+=|href=/i.test(image.toString('latin1'));
        return [
          ...when(image.length > maxIconBytes, `${image.length} bytes are more than ${maxIconBytes}`),
          ...when(textAt(each, 'mediatype') === 'image/svg+xml' && isForeign, 'the image has scripts or links'),
        ];
      }),
  },
];

/** What only the bundle of a release has, and what a mirror by digest needs. */
export const releaseRules: readonly Rule<Manifest>[] = [
  {
    name: 'images by digest',
    check: csv =>
      [...listAt(csv, 'spec', 'relatedImages').map(each => textAt(each, 'image')), containerImageOf(csv)]
        .filter(image => !/@sha256:[0-9a-f]{64}$/.test(image))
        .map(image => `${JSON.stringify(image)} is not named by digest`),
  },
  {
    name: 'date',
    check: csv => {
      const { createdAt = '' } = annotationsOf(csv);
      const isDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(createdAt) && !Number.isNaN(Date.parse(createdAt));
      return when(!isDate, `createdAt ${JSON.stringify(createdAt)} is no time`);
    },
  },
];

const specOf = (csv: Manifest) => member(csv, 'spec');
const containerImageOf = (csv: Manifest) => annotationsOf(csv)['containerImage'] ?? '';
const changes = /^(\*|create|update|patch|delete|deletecollection)$/;

function has(rule: Record<string, unknown>, key: string, pattern: RegExp): boolean {
  const list = rule[key];
  return Array.isArray(list) && list.some(each => pattern.test(String(each)));
}

function isListOfTexts(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(each => typeof each === 'string');
  } catch {
    return false;
  }
}
