import { isDeepStrictEqual } from 'node:util';
import { printBundle } from '../../../src/agent/certificates/bundle.ts';
import { applyRemovals, cleanUp } from '../../../src/agent/cleanup/clean-up.ts';
import {
  chooseServiceData,
  mergeNames,
  mergeServices,
  planRemoval,
  removalProblem,
} from '../../../src/agent/cleanup/decide.ts';
import { stateFile } from '../../../src/agent/state.ts';
import { managedDescription, nodeAnnotation } from '../../../src/contract/names.ts';
import { file } from '../../../src/contract/paths.ts';
import { byPriority, service } from '../../../src/contract/services/manifest.ts';
import { ModelHost } from '../../kit/model-host.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  removeServices: async (input: Input) => {
    const host = new ModelHost();
    for (const [name, { state, managed, dependencies }] of Object.entries<Input>(input.existing)) {
      const description = managed ? managedDescription(name) : '';
      host.services.install(name, { description, dependencies: dependencies ?? [] }, state.toLowerCase());
    }
    const listed = byPriority((input.configMapServices ?? []).map(serviceOf));
    const removals = planRemoval(await host.services.list(), listed, input.removeAllTagged);
    const error = removalProblem(await applyRemovals(removals, host, host.waiting()));
    if (error !== undefined) throw error;
    return { remaining: (await host.services.list()).map(({ name }) => name) };
  },
  mergeServices: (input: Input) => {
    const rows = new Map<unknown, Input>();
    const [preferred, other] = [input.preferred, input.other].map(list =>
      (list ?? []).map((row: Input) => {
        const made = serviceOf(row);
        rows.set(made, row);
        return made;
      }),
    );
    return { services: mergeServices(preferred, other).map(made => rows.get(made)) };
  },
  mergeNames: (input: Input) => ({ names: mergeNames(input.first ?? [], input.second ?? []) }),
  chooseServiceData: (input: Input) => {
    const configMaps = input.configMaps.map((row: Input) => ({
      name: row.name,
      createdAt: new Date(row.created * 1000).toISOString(),
      data: row.data ?? (isBroken(row) ? {} : { services: '[]', files: '[]' }),
    }));
    return chooseServiceData(configMaps, input.node?.version);
  },
  deconfigureEffects: async (input: Input) => {
    const host = deconfiguredHost(input);
    const [before, node] = [structuredClone(host.state.variables), structuredClone(host.node)];
    let [error, rebootNeeded]: [unknown, boolean] = [undefined, false];
    try {
      ({ rebootNeeded } = await cleanUp(host, { keepSettings: false }, host.waiting()));
    } catch (thrown) {
      error = thrown;
    }
    const shimsKilled = host.services.calls.some(call => call.startsWith('kill containerd-shim'));
    const effects = {
      rebootNeeded,
      nodeUnchanged: isDeepStrictEqual(host.node, node),
      containerShimsKilled: shimsKilled,
    };
    if (error === undefined) return { ok: true, ...effects };
    return { error, ...effects, laterStepsSkipped: isDeepStrictEqual(before, host.state.variables) && !shimsKilled };
  },
};

/** A host with one variable and one certificate of the agent, and services that do not stop. */
function deconfiguredHost(input: Input): ModelHost {
  const host = new ModelHost();
  const failing: string[] = input.failedServices ?? [];
  const services = failing.map(name => ({ name, path: name, bootstrap: false, priority: 0 }));
  for (const name of failing) host.services.install(name);
  host.services.before = call => {
    if (failing.some(name => call === `stop ${name}`)) throw new Error('it does not stop');
  };
  host.fileTexts.set(file.stagedRecord, JSON.stringify({ version: 'v' }));
  host.configMaps = [
    {
      name: 'windows-services-v',
      created: '2026-01-01T00:00:00Z',
      data: { services: JSON.stringify(services), files: '[]', watchedEnvironmentVars: '["HTTP_PROXY"]' },
    },
  ];
  host.node =
    input.node === false ? undefined : { name: 'node', annotations: { [nodeAnnotation.version]: 'v' }, ready: true };
  if (input.environmentRemoved || failing.length > 0) {
    host.state.variables = { HTTP_PROXY: 'a' };
    host.fileTexts.set(stateFile, JSON.stringify({ environment: [{ name: 'HTTP_PROXY', value: 'a' }] }));
  }
  if (input.certificatesRemoved) {
    const der = Uint8Array.of(1);
    host.addRoots(der);
    host.fileTexts.set(file.importedCerts, printBundle([{ der, sha256: '' }]));
  }
  return host;
}

function serviceOf(row: Input) {
  return service({
    name: row.name,
    command: row.path ?? 'x',
    priority: row.priority ?? 0,
    dependencies: row.dependencies ?? [],
  });
}

function isBroken(row: Input): boolean {
  return row.invalid === true || row.malformed === true || row.valid === false || row.parses === false;
}
