import { AppError } from '#base/errors.ts';
import { file } from '#contract/paths.ts';
import { type Certificate, parseBundle, printBundle, readImported } from './certificates/bundle.ts';
import { type CertificatePlan, planCertificates } from './certificates/plan.ts';
import {
  type EnvironmentInput,
  type EnvironmentPlan,
  type OwnedVariable,
  planEnvironment,
  variableKey,
} from './environment/plan.ts';
import type { CertStore, Environment, Files } from './ports.ts';
import { changeState, mayBeBack, readState, type AgentState, type TakenBack } from './state.ts';

export interface SettingsPorts {
  environment: Environment;
  certificates: CertStore;
  files: Files;
}

/** The certificates of the bundle file; undefined when no path is given. */
export async function readBundle(path: string, files: Files): Promise<Certificate[] | undefined> {
  if (path === '') return undefined;
  const text = await files.read(path);
  if (text !== undefined) return parseBundle(text, `CA bundle ${path}`);
  throw new AppError('INPUT_UNREADABLE', `CA bundle ${path} does not exist`, {
    remedy: 'Wait: the operator writes it while it configures the host.',
  });
}

/** Variables that the agent has set, with those that a power cut may have brought back; undefined without a record. */
export function ownedVariables(state: AgentState, bootId: string): OwnedVariable[] | undefined {
  const { environment } = state;
  const known = new Set(environment?.map(({ name }) => variableKey(name)));
  const back = mayBeBack(state, bootId).variables.filter(({ name }) => !known.has(variableKey(name)));
  return environment && [...environment, ...back];
}

export async function observeEnvironment(
  wanted: Omit<EnvironmentInput, 'registry'>,
  environment: Environment,
): Promise<EnvironmentPlan> {
  return planEnvironment({ ...wanted, registry: await environment.machine() });
}

export async function observeCertificates(
  bundle: readonly Certificate[] | undefined,
  ports: SettingsPorts,
  removed: readonly string[] = [],
): Promise<CertificatePlan> {
  const record = await ports.files.read(file.importedCerts);
  const imported = record === undefined ? undefined : readImported(record);
  return planCertificates(bundle, imported, await ports.certificates.list(), removed);
}

/** Applies the changes in a boot. They are recorded first, so that an interrupted pass does not lose the ownership. */
export async function applySettings(
  environment: EnvironmentPlan,
  certificates: CertificatePlan | undefined,
  bootId: string,
  ports: SettingsPorts,
): Promise<void> {
  const { takenBack: before, variablesBoot } = await readState(ports.files);
  await changeState(ports.files, {
    environment: [...environment.owned, ...environment.released],
    variablesBoot: environment.changed || variablesBoot === bootId ? bootId : undefined,
    takenBack: addReverted(before, bootId, environment.released, certificates?.remove ?? []),
  });
  for (const { name, value } of [...environment.writes, ...environment.restores]) {
    await ports.environment.setMachine(name, value);
  }
  for (const name of environment.removals) await ports.environment.removeMachine(name);
  if (environment.released.length > 0) await changeState(ports.files, { environment: environment.owned });
  if (certificates !== undefined) await applyCertificates(certificates, ports);
}

/** Kept until a pass in another boot finds nothing to revert. */
function addReverted(
  before: TakenBack | undefined,
  bootId: string,
  variables: readonly OwnedVariable[],
  certificates: readonly string[],
): TakenBack | undefined {
  const [known, sums] = before?.bootId === bootId ? [before.variables, before.certificates] : [[], []];
  const byName = new Map([...known, ...variables].map(variable => [variableKey(variable.name), variable]));
  const all = { bootId, variables: [...byName.values()], certificates: [...new Set([...sums, ...certificates])] };
  return all.variables.length + all.certificates.length > 0 ? all : undefined;
}

async function applyCertificates(plan: CertificatePlan, ports: SettingsPorts): Promise<void> {
  const { files, certificates } = ports;
  if (plan.changed) {
    const before = readImported((await files.read(file.importedCerts)) ?? '');
    await files.write(file.importedCerts, printBundle([...before, ...plan.add]));
    for (const { der } of plan.add) await certificates.add(der);
    for (const sha256 of plan.remove) await certificates.remove(sha256);
  }
  if (plan.imported === undefined) await files.remove(file.importedCerts);
  else if (plan.changed) await files.write(file.importedCerts, printBundle(plan.imported));
}
