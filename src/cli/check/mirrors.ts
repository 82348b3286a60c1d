import { mirrorCaveats } from '#node/desired/registries/caveats.ts';
import { registryFiles } from '#node/desired/registries/registries.ts';
import type { Command } from '../command.ts';
import { ofKind } from '../find.ts';
import { pullSecretFrom } from '../pull-secret.ts';
import { errorData, table } from '../output.ts';
import { oneLine } from '../safe-text.ts';
import { mirrorKinds } from '../render/registries.ts';

export const checkMirrors: Command = {
  name: 'mirrors',
  summary: 'show which mirrors Windows nodes use, and what is not supported on Windows',
  example: 'wmco check mirrors -f examples/mirrors.yaml',
  reads: 'ImageDigestMirrorSets, ImageTagMirrorSets, Image cluster, and Secret openshift-config/pull-secret',
  options: [],
  run({ objects }) {
    const found = ofKind(objects, ...mirrorKinds);
    const sets = found.filter(({ kind }) => kind !== 'Image');
    const merged = registryFiles(found, pullSecretFrom(objects));
    const caveats = mirrorCaveats(sets);
    const rows = merged.sets.map(set => [
      `  ${set.source}`,
      set.mirrors.map(mirror => mirror.host).join(', ') || '(no mirror)',
      set.sourcePolicy === 'NeverContactSource' ? 'source never contacted' : 'then the source',
    ]);
    const text = [
      `${sets.length} mirror sets, ${merged.sets.length} source registries, ${merged.warnings.length} problems`,
      table(rows),
      ...caveats.map(caveat => `note: ${oneLine(caveat)}`),
    ].join('\n');
    const data = { sets: merged.sets, caveats, problems: merged.warnings.map(errorData) };
    return { output: { text, data }, findings: merged.warnings };
  },
};
