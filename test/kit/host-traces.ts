import { dir } from '../../src/contract/paths.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';

/** What a removal has to restore on a host. Logs stay, except files in `own`, which are compared wherever they are. */
export async function hostTraces({ files, services, state }: SimulatedHost, own: readonly string[] = []) {
  return {
    files: files.paths().filter(path => own.includes(path) || !path.startsWith(`${dir.log}\\`)),
    folders: (await files.list('C:')).toSorted(),
    services: (await services.list()).map(({ name }) => name),
    networks: [...state.networks, ...state.endpoints],
    variables: { ...state.variables },
    /** As running programs see them. */
    variablesAtBoot: { ...state.variablesAtBoot },
    certificates: [...state.certificates.keys()],
  };
}
