import { attempt } from '#base/errors.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { mirrorCaveats } from '#node/desired/registries/caveats.ts';
import { registryFiles } from '#node/desired/registries/registries.ts';
import type { Command } from '../command.ts';
import { findSecretData, ofKind } from '../find.ts';
import { errorData, table } from '../output.ts';
import { mirrorKinds } from '../render/registries.ts';

export const checkMirrors: Command = {
  name: 'mirrors',
  summary: 'what Windows nodes make of the mirror sets, and what they cannot do',
  example: 'wmco check mirrors -f examples/mirrors.yaml',
  reads: 'ImageDigestMirrorSets, ImageTagMirrorSets, and Secret openshift-config/pull-secret',
  options: [],
  run({ objects }) {
    const sets = ofKind(objects, ...mirrorKinds);
    const secret = attempt(() => findSecretData(objects, secretName.pullSecret, namespaceName.config));
    const merged = registryFiles(sets, secret.ok ? secret.value[secretKey.dockerConfig] : undefined);
    const caveats = mirrorCaveats(sets);
    const rows = merged.sets.map(set => [
      `  ${set.source}`,
      set.mirrors.map(mirror => mirror.host).join(', ') || '(no mirror)',
      set.sourcePolicy === 'NeverContactSource' ? 'source never contacted' : 'then the source itself',
    ]);
    const text = [
      `${sets.length} mirror sets, ${merged.sets.length} source registries, ${merged.warnings.length} entries refused`,
      table(rows),
      ...caveats.map(caveat => `note: ${caveat}`),
    ].join('\n');
    const data = { sets: merged.sets, caveats, refused: merged.warnings.map(errorData) };
    return { shown: { text, data, files: {} }, findings: merged.warnings };
  },
};
