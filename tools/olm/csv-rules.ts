import { accountsOf, dangersOf } from './bundle-rules.ts';
import { listAt, type Manifest, member, textAt } from './read.ts';
import { duplicatesIn, isDnsName, isSemver, type Rule, when } from './rule.ts';

const capabilities = ['Basic Install', 'Seamless Upgrades', 'Full Lifecycle', 'Deep Insights', 'Auto Pilot'];
const categories = (
  'AI/Machine Learning,Application Runtime,Big Data,Cloud Provider,Database,Developer Tools,Drivers and plugins,' +
  'Integration & Delivery,Logging & Tracing,Modernization & Migration,Monitoring,Networking,Observability,' +
  'OpenShift Optional,Security,Storage,Streaming & Messaging'
).split(',');
const modes = ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'];
const mediaTypes: Readonly<Record<string, RegExp>> = {
  'image/svg+xml': /^<svg /,
  'image/png': /^\u0089PNG/,
  'image/jpeg': /^\u00ff\u00d8/,
  'image/gif': /^GIF8/,
};
/** OLM reads annotations by their exact case. */
const annotationNames = [
  'alm-examples',
  'olm.skipRange',
  'olm.properties',
  'olm.operatorGroup',
  'olm.targetNamespaces',
];

const annotationsOf = ({ metadata }: Manifest) => metadata?.annotations ?? {};

export const csvRules: readonly Rule<Manifest>[] = [
  {
    name: 'name',
    check: csv => {
      const name = csv.metadata?.name ?? '';
      const [, version = ''] = /^[^.]+\.v?(.+)$/.exec(name) ?? [];
      return [
        ...when(!isDnsName(name), `${JSON.stringify(name)} is no DNS name`),
        ...when(!isSemver(version), `${JSON.stringify(name)} has not the form NAME.vX.Y.Z`),
        ...when(version !== textAt(csv, 'spec', 'version'), 'the version in the name is not spec.version'),
      ];
    },
  },
  {
    name: 'versions',
    check: csv => [
      ...when(!isSemver(textAt(csv, 'spec', 'version')), 'spec.version is no semantic version'),
      ...when(!isSemver(textAt(csv, 'spec', 'minKubeVersion')), 'spec.minKubeVersion is no semantic version'),
      ...replacesOf(csv)
        .filter(name => !isSemver(/^[^.]+\.v?(.+)$/.exec(name)?.[1] ?? ''))
        .map(name => `spec.replaces ${name} has not the form NAME.vX.Y.Z`),
    ],
  },
  {
    name: 'texts',
    check: csv =>
      ['displayName', 'description', 'maturity']
        .filter(field => textAt(csv, 'spec', field).trim() === '')
        .map(field => `spec.${field} is missing`),
  },
  { name: 'examples', check: exampleProblems },
  {
    name: 'install modes',
    check: csv => {
      const given = listAt(csv, 'spec', 'installModes');
      const types = given.map(each => textAt(each, 'type'));
      return [
        ...modes.filter(mode => !types.includes(mode)).map(mode => `${mode} is missing`),
        ...types.filter(type => !modes.includes(type)).map(type => `${type} is unknown`),
        ...duplicatesIn(types).map(type => `${type} is given twice`),
        ...when(!given.some(({ supported }) => supported === true), 'none is supported'),
      ];
    },
  },
  {
    name: 'annotation names',
    check: csv =>
      Object.keys(annotationsOf(csv)).flatMap(key =>
        annotationNames
          .filter(name => name !== key && name.toLowerCase() === key.toLowerCase())
          .map(name => `${key} must be ${name}`),
      ),
  },
  {
    name: 'capabilities',
    check: csv => {
      const { capabilities: level = '' } = annotationsOf(csv);
      return when(!capabilities.includes(level), `${JSON.stringify(level)} is no level`);
    },
  },
  {
    name: 'categories',
    check: csv =>
      (annotationsOf(csv)['categories'] ?? '')
        .split(',')
        .map(each => each.trim())
        .filter(each => !categories.includes(each))
        .map(each => `${JSON.stringify(each)} is no category`),
  },
  {
    name: 'icon',
    check: csv => {
      const icons = listAt(csv, 'spec', 'icon');
      const [icon] = icons;
      const begin = Buffer.from(textAt(icon, 'base64data'), 'base64').toString('latin1').slice(0, 16);
      const isImage = mediaTypes[textAt(icon, 'mediatype')]?.test(begin) ?? false;
      return [
        ...when(icons.length !== 1, `${icons.length} icons`),
        ...when(!isImage, 'not an image of its media type'),
      ];
    },
  },
  {
    name: 'people and links',
    check: csv => [
      ...when(textAt(csv, 'spec', 'provider', 'name') === '', 'spec.provider.name is missing'),
      ...listAt(csv, 'spec', 'maintainers').flatMap(each =>
        when(
          textAt(each, 'name') === '' || !/^[^@\s]+@[^@\s]+$/.test(textAt(each, 'email')),
          'a maintainer needs name and email',
        ),
      ),
      ...listAt(csv, 'spec', 'links').flatMap(each =>
        when(textAt(each, 'name') === '' || !URL.canParse(textAt(each, 'url')), 'a link needs name and URL'),
      ),
    ],
  },
  { name: 'deployments', check: deploymentProblems },
  {
    name: 'permissions',
    check: csv =>
      ['permissions', 'clusterPermissions'].flatMap(key =>
        listAt(csv, 'spec', 'install', 'spec', key)
          .flatMap(each => listAt(each, 'rules'))
          .flatMap(rule => [...dangersOf(rule), ...shapeProblems(rule)].map(problem => `a rule of ${key} ${problem}`)),
      ),
  },
  {
    name: 'features',
    check: csv => {
      const prefix = 'features.operators.openshift.io/';
      const annotations = annotationsOf(csv);
      const needed = ['disconnected', 'fips-compliant', 'proxy-aware', 'tls-profiles'];
      const tokens = ['aws', 'azure', 'gcp'].map(cloud => `token-auth-${cloud}`);
      return [
        ...[...needed, ...tokens].filter(name => !(prefix + name in annotations)).map(name => `${name} is missing`),
        ...Object.entries(annotations)
          .filter(([key, value]) => key.startsWith(prefix) && !/^(true|false)$/.test(value))
          .map(([key]) => `${key} is neither "true" nor "false"`),
      ];
    },
  },
  {
    name: 'upgrade range',
    check: csv => {
      const { 'olm.skipRange': range = '', 'olm.properties': properties = '[]' } = annotationsOf(csv);
      const [, from = '', to = ''] = /^>=(\S+) <(\S+)$/.exec(range) ?? [];
      return [
        ...when(!isSemver(from) || !isSemver(to), `olm.skipRange ${JSON.stringify(range)} is not ">=X.Y.Z <X.Y.Z"`),
        ...when(to !== textAt(csv, 'spec', 'version'), 'olm.skipRange does not end before this version'),
        ...when(!isPropertyList(properties), 'olm.properties is no list of properties'),
      ];
    },
  },
  {
    name: 'namespace',
    check: csv => {
      const annotations = annotationsOf(csv);
      const suggested = annotations['operatorframework.io/suggested-namespace'] ?? '';
      const template = jsonIn(annotations['operatorframework.io/suggested-namespace-template'] ?? '{}');
      return [
        ...when(!isDnsName(suggested), 'suggested-namespace is no name'),
        ...when(textAt(template, 'metadata', 'name') !== suggested, 'the template is for another namespace'),
      ];
    },
  },
  {
    name: 'platforms',
    check: ({ metadata }) =>
      ['operatorframework.io/arch.amd64', 'operatorframework.io/os.linux']
        .filter(label => metadata?.labels?.[label] !== 'supported')
        .map(label => `the label ${label} is missing`),
  },
  {
    name: 'related images',
    check: csv => {
      const related = listAt(csv, 'spec', 'relatedImages');
      const images = related.map(each => textAt(each, 'image'));
      return [
        ...imagesOf(csv)
          .filter(image => !images.includes(image))
          .map(image => `${image} is used, but not listed`),
        ...when(
          annotationsOf(csv)['containerImage'] !== imagesOf(csv)[0],
          'containerImage is not the image of the pod',
        ),
        ...when(
          related.some(each => textAt(each, 'name') === '') || images.includes(''),
          'an entry lacks name or image',
        ),
        ...duplicatesIn(related.map(each => textAt(each, 'name'))).map(name => `${name} is listed twice`),
      ];
    },
  },
];

function replacesOf(csv: Manifest): string[] {
  const replaces = textAt(csv, 'spec', 'replaces');
  return replaces === '' ? [] : [replaces];
}

function exampleProblems(csv: Manifest): string[] {
  const examples = jsonIn(annotationsOf(csv)['alm-examples'] ?? '');
  if (!Array.isArray(examples)) return ['alm-examples is no list in JSON'];
  const shown = examples.map(each => `${textAt(each, 'apiVersion')} ${textAt(each, 'kind')}`);
  const owned = listAt(csv, 'spec', 'customresourcedefinitions', 'owned').map(each => {
    const group = textAt(each, 'name').replace(/^[^.]*\./, '');
    return `${group}/${textAt(each, 'version')} ${textAt(each, 'kind')}`;
  });
  return [
    ...owned.filter(each => !shown.includes(each)).map(each => `${each} has no example`),
    ...shown.filter(each => !owned.includes(each)).map(each => `${each} is not owned`),
  ];
}

function deploymentProblems(csv: Manifest): string[] {
  const deployments = listAt(csv, 'spec', 'install', 'spec', 'deployments');
  const accounts = accountsOf(csv);
  return [
    ...when(textAt(csv, 'spec', 'install', 'strategy') !== 'deployment', 'the strategy is not "deployment"'),
    ...when(deployments.length === 0, 'there is none'),
    ...deployments
      .map(each => textAt(each, 'spec', 'template', 'spec', 'serviceAccountName'))
      .filter(account => !accounts.includes(account))
      .map(account => `the service account ${JSON.stringify(account)} has no permissions`),
    ...containersOf(csv)
      .filter(each => !['cpu', 'memory'].every(name => textAt(each, 'resources', 'requests', name) !== ''))
      .map(each => `the container ${textAt(each, 'name')} requests no CPU or no memory`),
  ];
}

const containersOf = (csv: Manifest) =>
  listAt(csv, 'spec', 'install', 'spec', 'deployments').flatMap(each =>
    listAt(member(each, 'spec', 'template', 'spec'), 'containers'),
  );
const imagesOf = (csv: Manifest) => containersOf(csv).map(each => textAt(each, 'image'));

function shapeProblems(rule: Record<string, unknown>): string[] {
  return ['apiGroups', 'resources', 'verbs']
    .filter(key => !Array.isArray(rule[key]) || rule[key].length === 0)
    .map(key => `has no ${key}`);
}

function isPropertyList(text: string): boolean {
  const list = jsonIn(text);
  return (
    Array.isArray(list) &&
    list.every(each => textAt(each, 'type') !== '' && (each as { value?: unknown }).value !== undefined)
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
