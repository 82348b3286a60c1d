import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCsr } from '../kit/csr.ts';
import { findKubectls, type Kubectl, kubectl, type KubectlServer, startKubectlServer } from '../kit/kubectl.ts';

const binaries = findKubectls();
let folder: string;
let target: KubectlServer;

beforeAll(async () => {
  target = await startKubectlServer();
  ({ folder } = target);
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
});

const kubeconfig = (): string => target.kubeconfig;
const tool = (binary: string): Kubectl => kubectl(binary, kubeconfig(), folder);

async function file(name: string, ...objects: object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  return path;
}

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: name } },
  data,
});

for (const [index, binary] of binaries.entries()) {
  const id = `k${index}`;
  const says = async (wanted: RegExp, ...args: string[]): Promise<void> => {
    const { ok, text } = await tool(binary)(...args);
    expect(text).toMatch(wanted);
    expect(ok).toBe(true);
  };

  test(`${binary} discovers the API`, async () => {
    await says(/Server Version/, 'version');
    await says(/^configmaps +cm /m, 'api-resources');
    await says(/^policy\/v1$/m, 'api-versions');
    await says(/default +Active/, 'get', 'namespaces');
  });

  test(`${binary} applies, gets, describes and deletes`, async () => {
    const path = await file(`${id}.json`, configMap(id, { k: 'v' }), configMap(`${id}-b`, {}));
    await says(new RegExp(`configmap/${id} created\nconfigmap/${id}-b created`), 'apply', '-f', path);
    await says(new RegExp(`configmap/${id} unchanged`), 'apply', '-f', path);
    await file(`${id}.json`, configMap(id, { k: 'w' }));
    await says(new RegExp(`configmap/${id} configured`), 'apply', '-f', path);
    await says(new RegExp(`^NAME +DATA +AGE\n${id} +1 +\\d+s`), 'get', 'configmap', id);
    await says(/^w$/, 'get', 'cm', id, '-o', 'jsonpath={.data.k}');
    await says(/k:\n----\nw/, 'describe', 'cm', id);
    await says(new RegExp(`configmap/${id} labeled`), 'label', 'cm', id, 'x=y');
    await says(new RegExp(`configmap "${id}" deleted`), 'delete', '-f', path);
    expect(await tool(binary)('get', 'cm', id)).toEqual({
      ok: false,
      text: `Error from server (NotFound): configmaps "${id}" not found\n`,
    });
  });

  test(`${binary} creates common objects`, async () => {
    await says(/created/, 'create', 'configmap', `${id}-hand`, '--from-literal=10.0.0.1=username=Administrator');
    await says(/username=Administrator/, 'get', 'cm', `${id}-hand`, '-o', 'yaml');
    await says(/created/, 'create', 'secret', 'generic', `${id}-key`, `--from-file=private-key.pem=${kubeconfig()}`);
    await says(/created/, 'create', 'namespace', `${id}-ns`);
    await says(/deleted/, 'delete', 'namespace', `${id}-ns`);
  });

  test(`${binary} manages nodes and pods`, async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: `${id}-win` } };
    const spec = { nodeName: `${id}-win`, containers: [{ name: 'c', image: 'i:1' }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${id}-pod` }, spec };
    await says(/created/, 'apply', '-f', await file(`${id}-node.json`, node, pod));
    await says(/Taints: +node\.kubernetes\.io\/not-ready:NoSchedule/, 'describe', 'node', `${id}-win`);
    await says(new RegExp(`Node: +${id}-win`), 'describe', 'pod', `${id}-pod`);
    await says(/cordoned/, 'cordon', `${id}-win`);
    await says(/tainted/, 'taint', 'node', `${id}-win`, 'os=Windows:NoSchedule');
    await says(/SchedulingDisabled/, 'get', 'nodes', '-o', 'wide');
    const drain = await tool(binary)('drain', `${id}-win`, '--force', '--timeout=1s');
    expect(drain.text).toContain(`evicting pod default/${id}-pod`);
    await says(/deleted/, 'delete', 'pod', `${id}-pod`, '--force', '--grace-period=0');
    await says(/drained|cordoned/, 'drain', `${id}-win`, '--force', '--timeout=5s');
    await says(/uncordoned/, 'uncordon', `${id}-win`);
  });

  test(`${binary} approves certificates`, async () => {
    const request = Buffer.from(makeCsr()).toString('base64');
    const signerName = 'kubernetes.io/kube-apiserver-client';
    const spec = { request, signerName, usages: ['client auth', 'digital signature'] };
    const csr = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: id },
      spec,
    };
    await says(/created/, 'apply', '-f', await file(`${id}-csr.json`, csr));
    await says(/Pending/, 'get', 'csr', id);
    await says(/approved/, 'certificate', 'approve', id);
    await expect.poll(async () => (await tool(binary)('get', 'csr', id)).text).toMatch(/Approved,Issued/);
    await says(/Common Name: +system:node:win1/, 'describe', 'csr', id);
  });

  test(`${binary} checks permissions`, async () => {
    await says(/^yes/, 'auth', 'can-i', 'create', 'pods');
    expect(await tool(binary)('auth', 'can-i', 'create', 'pods', '--as', 'joe')).toMatchObject({
      ok: false,
      text: expect.stringMatching(/^no/),
    });
    await says(/selfsubjectaccessreviews\.authorization\.k8s\.io/, 'auth', 'can-i', '--list', '--as', 'joe');
  });

  test(`${binary} watches`, async () => {
    const name = `${id}-watched`;
    const child = spawn(binary, ['--kubeconfig', kubeconfig(), 'get', 'cm', '-w', '-l', `app=${name}`]);
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
    });
    const path = await file(`${name}.json`, configMap(name, {}));
    await says(/created/, 'apply', '-f', path);
    await expect.poll(() => seen).toMatch(new RegExp(`${name} +0`));
    await file(`${name}.json`, configMap(name, { k: 'v' }));
    await says(/configured/, 'apply', '-f', path);
    await expect.poll(() => seen).toMatch(new RegExp(`${name} +1`));
    child.kill();
    await new Promise(resolve => child.once('close', resolve));
  });
}
