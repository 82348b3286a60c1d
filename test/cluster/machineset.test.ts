import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isNotFound, unless } from '../../src/kube/api-error.ts';
import { runtimeClasses } from '../../src/kube/resources.ts';
import { adminClient, sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { findKubectls, kubectl, type Kubectl } from '../kit/kubectl.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { startWmco } from '../kit/wmco-process.ts';

/** What `wmco runtimeclass` and `wmco machineset` print and write, by the rules of a real kube-apiserver. */

const client = adminClient();
const [binary = ''] = findKubectls();
let folder: string;
let run: Kubectl;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wmco-machineset-'));
  await writeFile(join(folder, 'kubeconfig'), sharedKubeconfig());
  run = kubectl(binary, join(folder, 'kubeconfig'), folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function wmco(...words: string[]): Promise<{ code: number | string; out: string; err: string }> {
  await using started = startWmco(words, { folder, environment: { KUBECONFIG: join(folder, 'kubeconfig') } });
  return { code: await started.ended(), out: started.out(), err: started.err() };
}

async function dryRun(text: string): Promise<string> {
  const file = join(folder, 'printed.yaml');
  await writeFile(file, text);
  const { ok, text: answer } = await run('apply', '--dry-run=server', '-f', file);
  expect(ok, answer).toBe(true);
  return answer;
}

test('the printed RuntimeClasses are valid, and --apply creates them once', async () => {
  const names = ['windows2019', 'windows2022', 'windows2025'];
  const { out } = await wmco('runtimeclass');
  const answer = await dryRun(out);
  for (const name of names) expect(answer).toContain(`runtimeclass.node.k8s.io/${name} created (server dry run)`);
  try {
    expect(await wmco('runtimeclass', '--apply')).toEqual({
      code: 0,
      err: '',
      out: names.map(name => `RuntimeClass ${name} created\n`).join(''),
    });
    expect((await wmco('runtimeclass', '--apply', '--release', '2022')).out).toBe(
      'RuntimeClass windows2022 unchanged\n',
    );
    const { handler } = await client.get(runtimeClasses, 'windows2022');
    expect(handler).toBe('runhcs-wcow-process');
  } finally {
    for (const name of names) await client.delete(runtimeClasses, name).catch(unless(isNotFound));
  }
});

test('the example of a workload is valid', async () => {
  const example = join(repositoryRoot, 'examples', 'windows-workload.yaml');
  // API servers before 1.24 do not know spec.os.
  const { ok, text } = await run('apply', '--dry-run=server', '--validate=false', '-f', example);
  expect([ok, text.match(/created/g)?.length], text).toEqual([true, 3]);
});
