import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { errorCodes } from '../src/base/error-codes.ts';
import { windowsInstanceCrd } from '../src/contract/windows-instance/crd.ts';
import { operatorName } from '../src/contract/names.ts';
import { defaultImage } from '../src/install/image-reference.ts';
import { installFiles, yamlFile } from '../src/install/files.ts';
import { olmFiles } from '../src/install/olm/files.ts';
import { admissionManifests } from '../src/operator/admission-policies.ts';
import { lastingTokenPermissions } from '../src/node/inputs/lasting-tokens.ts';
import { operatorPermissions } from '../src/operator/permissions.ts';
import { kubernetesManifests } from '../src/operator/kubernetes-manifests.ts';
import { fileOf, type Manifest, manifestFiles, rbacManifests, roleManifests } from '../src/operator/rbac-manifests.ts';
import { rightsPage } from './rights-page.ts';
import { supportedVersionsPage } from './supported-versions-page.ts';
import { windowsApiPage } from './windows-api-page.ts';

const root = join(import.meta.dirname, '..');

/** `npm run generate` writes these files; a test fails when one is out of date. */
export const generated: Record<string, () => string> = {
  'docs/reference/errors.md': errorPage,
  'src/payload/release-key.ts': releaseKeyModule,
  'docs/supported-versions.md': supportedVersionsPage,
  'docs/windows-api.md': windowsApiPage,
  'docs/reference/rights.md': rightsPage,
  'deploy/crd/windowsinstances.yaml': () =>
    stringify(windowsInstanceCrd(), { lineWidth: 0, aliasDuplicateObjects: false }),
  ...Object.fromEntries(
    manifestFiles.map(name => [
      `deploy/rbac/${name}.yaml`,
      () => rbacFile(rbacManifests(operatorPermissions).filter(each => fileOf(each) === name)),
    ]),
  ),
  'deploy/admission/agents.yaml': () => yamlFile(admissionManifests(), 'src/operator/admission-policies.ts'),
  'deploy/rbac/kubernetes.yaml': () => rbacFile(kubernetesManifests()),
  'deploy/rbac/lasting-tokens.yaml': () => lastingTokenFile('operator'),
  'deploy/rbac/openshift-lasting-tokens.yaml': () => lastingTokenFile('openshift'),
  ...Object.fromEntries(Object.entries(deployFiles()).map(([path, text]) => [`deploy/${path}`, () => text])),
};

/** Without digests and date, which only a release has. */
function deployFiles(): Record<string, string> {
  const version = packageVersion();
  const image = defaultImage(version);
  return { ...installFiles(image), ...olmFiles({ version, image, bundleImage: defaultImage(version, 'bundle') }) };
}

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Needed only with `--allow-lasting-tokens`. */
function lastingTokenFile(name: (typeof manifestFiles)[number]): string {
  const roles = roleManifests(lastingTokenPermissions, `${operatorName}-lasting-tokens`);
  return rbacFile(roles.filter(each => fileOf(each) === name));
}

function rbacFile(documents: readonly Manifest[]): string {
  return yamlFile(documents, 'the permissions beside each controller');
}

/** The key becomes part of the program: a file beside it could be replaced together with the payload. */
function releaseKeyModule(): string {
  const pem = readFileSync(join(root, 'payload', 'release-key.pub'), 'utf8');
  return `/** The public key of releases. Generated from payload/release-key.pub by \`npm run generate\`. */
export const releaseKey = \`${pem}\`;
`;
}

function errorPage(): string {
  const rows = Object.entries(errorCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return [
    '# Error codes',
    '',
    'Generated from `src/base/error-codes.ts` by `npm run generate`. A code never changes its meaning. The message names the',
    'object and the value; the remedy says what to do.',
    '',
    '| code | meaning |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The generated files that are missing or out of date. */
export async function outdated(): Promise<string[]> {
  const checks = Object.entries(generated).map(async ([path, make]) => {
    const actual = await readFile(join(root, path), 'utf8').catch(() => undefined);
    return actual === make() ? [] : [path];
  });
  return (await Promise.all(checks)).flat();
}

if (import.meta.main) {
  for (const [path, make] of Object.entries(generated)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), make());
    console.log(path);
  }
}
