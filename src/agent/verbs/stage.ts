import { agentName } from '#contract/names.ts';
import { activationFile, agentProgramHash } from '#contract/paths.ts';
import { rejectWhileSwapping } from '../activation/order.ts';
import { secureProgram } from '../secure.ts';
import { isManaged, serviceKey } from '../services/order.ts';
import { stageNext } from '../stage/next-set.ts';
import { stage as takeBundle } from '../stage/stage.ts';
import type { FlagValues } from './flags.ts';
import type { Answer, Verb, VerbDeps } from './verb.ts';

export const stage: Verb = {
  name: 'stage',
  summary: 'check an uploaded bundle and place its files, or keep them as the next set',
  required: ['bundle', 'sha256'],
  optional: ['next'],
  changesHost: true,
  async run(values, deps) {
    const { files, services } = deps.host();
    await rejectWhileSwapping(files);
    if (values.next === 'true') return keep(values, deps);
    const { bundle, sha256 } = values;
    const agent = agentProgramHash(deps.program) ?? (await files.sha256(deps.program)) ?? '';
    const hasServices = (await services.list()).some(
      one => isManaged(one) && serviceKey(one.name) !== serviceKey(agentName),
    );
    const outcome = await takeBundle({ bundle, sha256, agent, hasServices }, files, deps.signal);
    const { placed, unchanged, removed, bytes } = outcome;
    const text = `Placed ${placed} files (${bytes} bytes), ${unchanged} unchanged, ${removed} removed.`;
    return { text, data: outcome };
  },
};

/** The upgrade does not run `secure`, which would place the agent, so that the program secures itself here. */
async function keep({ bundle, sha256 }: FlagValues, deps: VerbDeps): Promise<Answer> {
  const { program, signal, log } = deps;
  const { files } = deps.host();
  const { events } = await secureProgram(program, path => files.sha256(path), files);
  for (const event of events) log.warn('Fixed owner or rights', { event });
  // Nobody may take the outcome of an earlier swap for that of the next one, which is not ordered yet.
  await files.remove(activationFile);
  const outcome = await stageNext({ bundle, sha256: sha256.toLowerCase() }, files, signal);
  const { version, files: count, received } = outcome;
  return { text: `Kept version ${version}: ${count} files, ${received} of them received.`, data: outcome };
}
