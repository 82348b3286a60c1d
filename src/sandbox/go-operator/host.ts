import type { ServiceConfig } from '#agent/ports.ts';
import { toBase64 } from '#base/bytes.ts';
import type { Clock } from '#base/clock.ts';
import { agentName, identity, managedDescription } from '#contract/names.ts';
import { dir, file, splitPath } from '#contract/paths.ts';
import type { SimulatedHost } from '../machines/host/host.ts';
import { goAgentStamp, stampOf } from '../machines/programs/stamp.ts';
import { goVersion } from './objects.ts';
import { goHostServices } from './services.ts';

export interface GoHostFacts {
  apiServerUrl: string;
  /** Of the cluster, in PEM form. */
  ca: string;
  namespace: string;
  clock: Clock;
  /** Machine variables that the Go agent has set. */
  environment?: Readonly<Record<string, string>>;
}

/** Files and folders that only this operator and its agent make. */
export const ownFiles = ['wicd-manifest.json', 'wicd-state.json', 'wicd-accepted.json', 'wicd-scripts.json'];
export const ownFolders = [dir.agentPrograms, dir.agentNative, dir.staged, dir.incoming];

/** Scripts that the Go operator copies; their content does not matter, because nothing here runs them. */
export const goScripts = ['windows-defender-exclusion.ps1', 'hns.psm1', 'network-conf.ps1', 'gcp-get-hostname.ps1'];

/**
 * Turns a host that has joined into one of the Go operator: its agent, programs, files and services. What runs keeps running. No operator
 * may run meanwhile.
 */
export async function turnIntoGoHost(host: SimulatedHost, facts: GoHostFacts): Promise<void> {
  const { files, services, spec, state } = host;
  await stopAgent(host, facts.clock);
  for (const folder of ownFolders) await files.removeDirectory(folder);
  for (const name of ownFiles) await files.remove(`${dir.k}\\${name}`);
  for (const path of files.paths().filter(each => each.endsWith('.exe')))
    await files.write(path, stampOf(splitPath(path).name, goVersion));
  for (const name of goScripts) await files.write(`${dir.temp}\\${name}`, `# ${name}\n`);
  await files.write(file.agent, stampOf(goAgentStamp, goVersion));
  await writeCredentials(host, facts);
  Object.assign(state.variables, facts.environment);
  Object.assign(state.variablesAtBoot, facts.environment);
  const place = { node: spec.name, address: spec.address };
  for (const { name, command, dependencies } of goHostServices(facts.apiServerUrl, place))
    await services.configure(name, serviceConfig(name, command, dependencies));
  await services.configure(agentName, serviceConfig(agentName, agentCommand(facts), []));
  await services.start(agentName);
  await untilAgent('running', host, facts.clock);
}

async function stopAgent(host: SimulatedHost, clock: Clock): Promise<void> {
  await host.services.stop(agentName);
  await untilAgent('stopped', host, clock);
}

async function untilAgent(state: 'running' | 'stopped', { services }: SimulatedHost, clock: Clock): Promise<void> {
  while ((await services.query(agentName))?.state !== state) await clock.sleep(pollMs);
}

const pollMs = 10;

/** Certificate and key in one file, under its date and as the current one. */
async function writeCredentials({ files, spec }: SimulatedHost, facts: GoHostFacts): Promise<void> {
  const pair = `${await files.read(file.agentCertificate)}${await files.read(file.agentKey)}`;
  await files.remove(file.agentKey);
  for (const path of [`${dir.agentCerts}\\wicd-client-2026-01-02-03-04-05.pem`, file.agentCertificate])
    await files.write(path, pair, 'secret');
  await files.write(file.agentKubeconfig, goKubeconfig(spec.name, facts), 'secret');
}

/** The form with a certificate: it names the file with certificate and key twice. */
export function goKubeconfig(node: string, { apiServerUrl, ca }: Pick<GoHostFacts, 'apiServerUrl' | 'ca'>): string {
  const user = `${identity.agentUserPrefix}${node}`;
  const { agentCertificate } = file;
  const cluster = { server: apiServerUrl, 'certificate-authority-data': toBase64(ca) };
  return JSON.stringify({
    clusters: [{ name: 'local', cluster }],
    users: [{ name: user, user: { 'client-certificate': agentCertificate, 'client-key': agentCertificate } }],
    contexts: [{ name: user, context: { cluster: 'local', user } }],
    'current-context': user,
  });
}

/** The command line of the Go operator, without the name of the Node. */
export function agentCommand({ namespace }: Pick<GoHostFacts, 'namespace'>): string {
  return (
    `${file.agent} controller --windows-service --log-dir ${dir.agentLog} --namespace ${namespace} ` +
    `--kubeconfig ${file.agentKubeconfig} --cert-dir ${dir.agentCerts} --cert-duration 1h --ca-bundle ${file.caBundle}`
  );
}

function serviceConfig(name: string, command: string, dependencies: readonly string[]): ServiceConfig {
  return {
    command,
    description: managedDescription(name),
    dependencies: [...dependencies],
    startType: 'automatic',
    recovery: undefined,
  };
}
