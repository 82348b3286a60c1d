import { type Json, listAt, member, textAt } from './read.ts';
import { duplicatesIn, isSemver, type Rule, when } from './rule.ts';

/** The documents of a file-based catalog. */
export type Catalog = readonly Json[];

const ofSchema = (catalog: Catalog, schema: string) => catalog.filter(each => each['schema'] === schema);
const nameOf = (each: Json) => textAt(each, 'name');
const versionOf = (bundle: Json) =>
  textAt(
    listAt(bundle, 'properties').find(({ type }) => type === 'olm.package'),
    'value',
    'version',
  );

export const catalogRules: readonly Rule<Catalog>[] = [
  {
    name: 'schemas',
    check: catalog =>
      catalog
        .map(each => textAt(each, 'schema'))
        .filter(schema => !/^olm\.(package|channel|bundle)$/.test(schema))
        .map(schema => `${JSON.stringify(schema)} is unknown`),
  },
  {
    name: 'package',
    check: catalog => {
      const packages = ofSchema(catalog, 'olm.package');
      const icon = member(packages[0], 'icon');
      return [
        ...when(packages.length !== 1, `the catalog has ${packages.length} packages`),
        ...when(
          packages.some(each => nameOf(each) === ''),
          'a package has no name',
        ),
        ...when(textAt(icon, 'base64data') === '' || textAt(icon, 'mediatype') === '', 'the icon lacks data or type'),
      ];
    },
  },
  {
    name: 'default channel',
    check: catalog => {
      const channels = ofSchema(catalog, 'olm.channel').map(nameOf);
      return ofSchema(catalog, 'olm.package')
        .map(each => textAt(each, 'defaultChannel'))
        .filter(channel => !channels.includes(channel))
        .map(channel => `there is no channel ${JSON.stringify(channel)}`);
    },
  },
  {
    name: 'members of the package',
    check: catalog => {
      const packages = ofSchema(catalog, 'olm.package').map(nameOf);
      return [...ofSchema(catalog, 'olm.channel'), ...ofSchema(catalog, 'olm.bundle')]
        .filter(each => !packages.includes(textAt(each, 'package')))
        .map(each => `${nameOf(each)} is of no package of the catalog`);
    },
  },
  {
    name: 'unique names',
    check: catalog => [
      ...duplicatesIn(catalog.map(each => `${textAt(each, 'schema')} ${nameOf(each)}`)).map(
        each => `${each} is there twice`,
      ),
      ...duplicatesIn(ofSchema(catalog, 'olm.bundle').map(versionOf)).map(each => `two bundles have version ${each}`),
    ],
  },
  {
    name: 'entries',
    check: catalog => {
      const bundles = ofSchema(catalog, 'olm.bundle').map(nameOf);
      const entries = ofSchema(catalog, 'olm.channel').flatMap(each => listAt(each, 'entries').map(nameOf));
      return [
        ...entries.filter(each => !bundles.includes(each)).map(each => `${each} is in a channel, but has no bundle`),
        ...bundles.filter(each => !entries.includes(each)).map(each => `${each} is in no channel`),
      ];
    },
  },
  { name: 'one head', check: catalog => ofSchema(catalog, 'olm.channel').flatMap(headProblems) },
  {
    name: 'upgrade path',
    check: catalog => ofSchema(catalog, 'olm.channel').flatMap(strandedEntries),
  },
  {
    name: 'bundles',
    check: catalog =>
      ofSchema(catalog, 'olm.bundle').flatMap(each => {
        const own = listAt(each, 'properties').filter(({ type }) => type === 'olm.package');
        return [
          ...when(textAt(each, 'image') === '', `${nameOf(each)} has no image`),
          ...when(own.length !== 1, `${nameOf(each)} has ${own.length} properties olm.package`),
          ...when(!isSemver(versionOf(each)), `${nameOf(each)} has no semantic version`),
          ...when(
            textAt(own[0], 'value', 'packageName') !== textAt(each, 'package'),
            `${nameOf(each)} names another package`,
          ),
          ...when(
            !listAt(each, 'relatedImages').some(({ image }) => image === each['image']),
            `${nameOf(each)}: its own image is no related image`,
          ),
        ];
      }),
  },
];

function headProblems(channel: Json): string[] {
  const entries = listAt(channel, 'entries');
  const former = new Set(entries.flatMap(formerOf));
  const heads = entries.map(nameOf).filter(name => !former.has(name));
  return when(heads.length !== 1, `channel ${nameOf(channel)} has ${heads.length} heads`);
}

function formerOf(entry: Json): string[] {
  const skips = Array.isArray(entry['skips']) ? entry['skips'].map(String) : [];
  return [...skips, ...(textAt(entry, 'replaces') === '' ? [] : [textAt(entry, 'replaces')])];
}

/** From the head every entry is reached by `replaces`, or it is skipped. */
function strandedEntries(channel: Json): string[] {
  const entries = new Map(listAt(channel, 'entries').map(entry => [nameOf(entry), entry]));
  const former = new Set([...entries.values()].flatMap(formerOf));
  const skipped = new Set(
    [...entries.values()].flatMap(({ skips }) => (Array.isArray(skips) ? skips.map(String) : [])),
  );
  const reached = new Set<string>();
  let name = [...entries.keys()].find(each => !former.has(each)) ?? '';
  while (entries.has(name) && !reached.has(name)) {
    reached.add(name);
    name = textAt(entries.get(name), 'replaces');
  }
  return [...entries.keys()]
    .filter(each => !reached.has(each) && !skipped.has(each))
    .map(each => `no version of channel ${nameOf(channel)} leads from ${each} to the head`);
}
