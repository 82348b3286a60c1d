import { expect, test } from 'vitest';
import { allow, digestSet, entry, never, tagSet } from '../../../../test/kit/mirror-sets.ts';
import { containerdConfig, pauseImage } from '../containerd-config.ts';
import { mirrorCaveats, pathCaveats } from './caveats.ts';
import { registryFiles } from './registries.ts';

/** The examples of the published documentation, step by step; `docs/registries.md` says where it errs. */

const example = digestSet('ubi9repo', [
  entry(
    'registry.access.redhat.com/ubi9/ubi-minimal',
    ['example.io/example/ubi-minimal', 'example.com/example2/ubi-minimal'],
    allow,
  ),
  entry('registry.redhat.io', ['mirror.example.com'], never),
  entry('docker-mirror.internal', ['docker.io'], allow),
]);

const { files, warnings } = registryFiles([example], undefined);
const text = (...lines: string[]) => `${lines.join('\n')}\n`;
const host = (url: string) => [`[host."${url}"]`, '  capabilities = ["pull"]', '  override_path = true'];

test('MIR-03: the set with three entries gives three files, named by their sources', () => {
  expect(warnings).toEqual([]);
  expect(Object.keys(files)).toEqual([
    'docker-mirror.internal\\hosts.toml',
    'registry.access.redhat.com\\hosts.toml',
    'registry.redhat.io\\hosts.toml',
  ]);
});

test('MIR-03: first the two mirrors as listed, then the source', () => {
  expect(files['registry.access.redhat.com\\hosts.toml']).toBe(
    text(
      'server = "https://registry.access.redhat.com/v2"',
      '',
      'override_path = true',
      '',
      ...host('https://example.io/v2/example'),
      '',
      ...host('https://example.com/v2/example2'),
    ),
  );
});

test('MIR-03: a source that is never contacted is not in its file', () => {
  expect(files['registry.redhat.io\\hosts.toml']).toBe(
    text(
      'server = "https://mirror.example.com/v2"',
      '',
      'override_path = true',
      '',
      ...host('https://mirror.example.com/v2'),
    ),
  );
});

test('MIR-03: a digest mirror on Docker Hub is asked under its real name and resolves no tags', () => {
  expect(files['docker-mirror.internal\\hosts.toml']).toBe(
    text(
      'server = "https://docker-mirror.internal/v2"',
      '',
      'override_path = true',
      '',
      ...host('https://registry-1.docker.io/v2'),
    ),
  );
});

test('MIR-05: the copied image of the example is not where Windows nodes look for it', () => {
  expect(pathCaveats([example])).toEqual([
    expect.stringContaining('at example.io/example/ubi9/ubi-minimal, not at example.io/example/ubi-minimal'),
    expect.stringContaining('at example.com/example2/ubi9/ubi-minimal, not at example.com/example2/ubi-minimal'),
  ]);
});

for (const organization of ['', 'custom/', 'x/y/z/']) {
  test(`MIR-05: the pause image may be mirrored below ${organization || 'nothing'}`, () => {
    const repository = 'oss/kubernetes/pause';
    const set = digestSet('pause', [entry(`mcr.microsoft.com/${repository}`, [`m.io/${organization}${repository}`])]);
    expect(pathCaveats([set])).toEqual([]);
    expect(registryFiles([set], undefined).files['mcr.microsoft.com\\hosts.toml']).toContain(
      `[host."https://m.io/v2${organization && `/${organization.slice(0, -1)}`}"]`,
    );
  });
}

test('MIR-05: containerd takes the pause image from the mirrors of its registry', () => {
  expect(containerdConfig()).toContain(`sandbox_image = "${pauseImage}"`);
  expect(containerdConfig()).toContain("config_path = 'C:\\k\\containerd\\registries'");
  // A tag needs a mirror that resolves tags; with digests alone the source is asked for the tag.
  const set = tagSet('mcr', [entry('mcr.microsoft.com', ['m.io/mcr'], never)]);
  expect(registryFiles([set], undefined).files['mcr.microsoft.com\\hosts.toml']).toContain('["pull", "resolve"]');
});

test('MIR-05: a mirror with another organization is for the whole registry, and below that organization', () => {
  const set = tagSet('org', [entry('quay.io/remote-org/image', ['quay.io/my-org/image'])]);
  expect(mirrorCaveats([set])).toEqual([
    'quay.io: Windows nodes use the mirrors for the whole registry, not only for quay.io/remote-org/image',
    expect.stringContaining('at quay.io/my-org/remote-org/image, not at quay.io/my-org/image'),
  ]);
});

test('MIR-01, MIR-02: a set adds the file of its source, and its removal takes it away', () => {
  const set = tagSet('e2e-powershell-mirror', [
    entry('test.registry.io/powershell', ['mcr.microsoft.com/powershell'], allow),
  ]);
  const before = Object.keys(files);
  const during = registryFiles([example, set], undefined).files;
  expect(Object.keys(during)).toEqual([...before, 'test.registry.io\\hosts.toml']);
  expect(during['test.registry.io\\hosts.toml']).toBe(
    text(
      'server = "https://test.registry.io/v2"',
      '',
      'override_path = true',
      '',
      '[host."https://mcr.microsoft.com/v2"]',
      '  capabilities = ["pull", "resolve"]',
      '  override_path = true',
    ),
  );
  expect(registryFiles([example], undefined).files).toEqual(files);
});
