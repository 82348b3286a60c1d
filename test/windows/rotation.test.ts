import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { serviceName } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { type Approver, startApprover } from '../kit/approve-requests.ts';
import {
  expiryOf,
  issuedTo,
  keyFilesOf,
  outdated,
  type RotationScene,
  startRotationScene,
  takeTurn,
  tokenUser,
} from '../kit/winhost/rotation.ts';
import { seeServices } from '../kit/winhost/sight.ts';

/** The agent with certificates of seconds: renewed in time, or requested again. */

const lifeMs = 20_000;
const [wantedRotations, wantedTurns] = [5, 21];

let story: RotationScene;
let approver: Approver | undefined;
let turns = 0;

beforeAll(async () => {
  story = await startRotationScene(inject('agentProgram'), lifeMs);
});
afterAll(async () => {
  await approver?.stop();
  await story?.[Symbol.asyncDispose]();
});

const takeNextTurn = () => takeTurn(story, ++turns);
const waitFor = (what: string, isSo: () => boolean) =>
  story.scene.operator
    .waitFor(what, async () => (isSo() ? true : undefined), 150_000)
    .catch(error => story.agent.explain(error));
const passes = () => story.agent.log().filter(line => line.includes('Host is configured')).length;
const untilExpired = (expiresMs: number) => delay(Math.max(0, expiresMs - Date.now()) + 1000);
const requestsSince = (count: number) => story.audit.requests().slice(count);
const asksForCertificate = ({ verb, uri }: { verb: string; uri: string }) =>
  verb === 'create' && uri.includes('certificatesigningrequests');

const runsOf = (service: string) =>
  story.host.lab.serviceEvents(service).filter(({ event }) => event === 'running').length;

async function runningServices(): Promise<string[]> {
  const services = Object.entries(await seeServices(story.host));
  return services.filter(([, { state }]) => state === 'RUNNING').map(([name]) => name);
}

test('renews certificates repeatedly without a failed request', async () => {
  const { agent, host, audit, node } = story;
  const [before, pids] = [issuedTo(agent), agent.pids()];
  const turnMs: number[] = [];
  while (issuedTo(agent) < before + wantedRotations || turnMs.length < wantedTurns) {
    turnMs.push(await takeNextTurn());
    const files = keyFilesOf(host);
    expect(files.filter(name => name.endsWith('.pem')).length).toBe(2);
    expect(expiryOf(host)).toBeGreaterThan(Date.now());
  }
  const requests = audit.requests();
  console.log(
    `${wantedRotations} rotations, ${requests.length} requests, ${turnMs.length} turns of at most ${Math.round(Math.max(...turnMs))} ms`,
  );
  expect(audit.refused()).toEqual([]);
  expect([agent.log('WARNING'), agent.log('ERROR'), agent.pids()]).toEqual([[], [], pids]);
  // Only the first request used the token; each other used the previous certificate.
  const askers = requests.filter(asksForCertificate).map(({ user }) => user);
  expect([askers[0], new Set(askers.slice(1))]).toEqual([tokenUser, new Set([`system:wicd-node:${node}`])]);
  await waitFor('the removal of temporary files', () => keyFilesOf(host).length === 2);
  expect(keyFilesOf(host).toSorted()).toEqual(['wicd-client-current.pem', 'wicd-client-key.pem']);
}, 300_000);

test('the agent waits and continues when no request is approved for longer than a certificate lifetime', async () => {
  const { agent, host, audit, scene } = story;
  const [pids, issued] = [agent.pids(), issuedTo(agent)];
  await scene.approver.stop();
  await untilExpired(expiryOf(host));
  // The last request may have been approved while the approver stopped.
  await untilExpired(expiryOf(host));
  approver = startApprover(scene.cluster.client);
  await waitFor('a certificate', () => issuedTo(agent) > issued && expiryOf(host) > Date.now());
  await takeNextTurn();
  expect([agent.pids(), audit.refused()]).toEqual([pids, []]);
}, 300_000);

test('a host that was off until its certificate expired uses the token', async () => {
  const { agent, host, audit } = story;
  await host.cut();
  const [expiresMs, known, done, errors] = [
    expiryOf(host),
    audit.requests().length,
    passes(),
    agent.log('ERROR').length,
  ];
  await untilExpired(expiresMs);
  await host.start();
  await waitFor('a pass', () => passes() > done);
  expect(expiryOf(host)).toBeGreaterThan(expiresMs);
  expect(requestsSince(known).find(asksForCertificate)?.user).toBe(tokenUser);
  await takeNextTurn();
  expect([audit.refused(), agent.log('ERROR').length]).toEqual([[], errors]);
  expect(await runningServices()).toHaveLength(7);
}, 300_000);

test('with an expired token, too, the agent reports it, starts the services, and uses a fresh kubeconfig', async () => {
  const { agent, host, audit, scene } = story;
  await host.cut();
  const [expiresMs, done, known] = [expiryOf(host), passes(), agent.log('WARNING').length];
  const earlier = runsOf(serviceName.kubeProxy);
  await host.drive.write(file.agentKubeconfig, outdated(host.drive.read(file.agentKubeconfig) ?? '', story));
  await untilExpired(expiresMs);
  await host.start();
  await waitFor('a word about it', () =>
    agent
      .log('WARNING')
      .slice(known)
      .some(line => line.includes('AGENT_UNIDENTIFIED')),
  );
  const said = agent.log('WARNING').slice(known).join('\n');
  expect(said).toContain(file.agentKubeconfig.replaceAll('\\', '\\\\'));
  expect(said).toContain('the API server rejects it');
  await waitFor('the services', () => runsOf(serviceName.kubeProxy) > earlier);
  expect([passes(), expiryOf(host)]).toEqual([done, expiresMs]);
  expect(new Set(audit.refused().map(({ code }) => code))).toEqual(new Set([401]));
  await scene.operator.publishTo(host, {});
  await waitFor('a pass', () => passes() > done);
  expect(expiryOf(host)).toBeGreaterThan(Date.now());
  expect(await runningServices()).toHaveLength(7);
}, 400_000);
