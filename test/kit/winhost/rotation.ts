import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentServiceAccountUser } from '../../../src/contract/names.ts';
import { dir, file } from '../../../src/contract/paths.ts';
import { findBinaries } from '../cluster/binaries.ts';
import type { ClusterOptions } from '../cluster/cluster.ts';
import { AgentService } from './agent-service.ts';
import { AuditLog } from './audit.ts';
import type { WindowsHost } from './host.ts';
import { namespace } from './rights.ts';
import { type Scene, startScene } from './scene.ts';

/** A host that has joined a cluster which gives certificates of short life, and the means to watch it renew them. */
export interface RotationScene extends AsyncDisposable {
  scene: Scene;
  audit: AuditLog;
  host: WindowsHost;
  agent: AgentService;
  node: string;
}

/** `lifeMs` is what is left of a certificate when it arrives. */
export async function startRotationScene(program: string, lifeMs: number): Promise<RotationScene> {
  const audit = await AuditLog.create();
  const scene = await startScene(program, { ...(await signingFor(lifeMs)), apiServerFlags: audit.flags });
  const end = async () => {
    await scene[Symbol.asyncDispose]();
    await audit[Symbol.asyncDispose]();
  };
  try {
    const host = await scene.lab.createHost();
    const node = await scene.operator.join(host);
    return { scene, audit, host, node, agent: new AgentService(host), [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Before 1.22 the five minutes by which a certificate is dated back are part of its life. */
async function signingFor(lifeMs: number): Promise<ClusterOptions> {
  const binaries = await findBinaries();
  const seconds = lifeMs / 1000 + ((binaries.controllerManager?.minor ?? 0) < 22 ? 300 : 0);
  return { binaries, controllerManagerFlags: [`--cluster-signing-duration=${seconds}s`] };
}

/** The user that the agent is while it has no certificate. */
export const tokenUser = agentServiceAccountUser(namespace);

/** When the certificate in use ends. */
export function expiryOf(host: WindowsHost): number {
  return new X509Certificate(host.drive.read(file.agentCertificate) ?? '').validToDate.getTime();
}

/** Files with private keys of the agent. */
export function keyFilesOf(host: WindowsHost): string[] {
  return host.drive.list(dir.agentCerts);
}

/** How many certificates the agent has got since its log began. */
export function issuedTo(agent: AgentService): number {
  return agent.log().filter(line => line.includes('Received client certificate')).length;
}

/** Takes the version from report and Node and waits until the agent has reported it again; gives how long that took. */
export async function takeTurn({ scene, node }: RotationScene, turn: number): Promise<number> {
  const startMs = performance.now();
  await scene.operator.forgetVersion(node);
  await scene.operator.annotate(node, { 'test/turn': `${turn}` });
  await scene.operator.waitForVersion(node);
  return performance.now() - startMs;
}

/** The kubeconfig of the agent with its token as it would be an hour later than it was valid. */
export function outdated(kubeconfig: string, { scene }: RotationScene): string {
  const key = createPrivateKey(readFileSync(join(scene.cluster.cluster.folder, 'service-accounts.key')));
  return kubeconfig.replace(/"token":\s*"([^"]+)"/, (_, token: string) => {
    const [head = '', body = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
    const exp = Math.floor(Date.now() / 1000) - 3600;
    const old = Buffer.from(JSON.stringify({ ...claims, iat: exp - 3600, nbf: exp - 3600, exp })).toString('base64url');
    const signature = sign('sha256', Buffer.from(`${head}.${old}`), { key, dsaEncoding: 'ieee-p1363' });
    return `"token":"${head}.${old}.${signature.toString('base64url')}"`;
  });
}
