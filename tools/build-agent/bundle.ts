import { join, relative } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');

export interface Bundle {
  code: string;
  /** Every file it is made of, relative to the root of the project. */
  inputs: string[];
}

/** What may be on a Windows host; the others belong to the operator, the command line and the sandbox. */
const hostLayers = ['agent', 'base', 'bin', 'contract', 'kube'];
/** The double of the kubelet plays on hosts under Wine, too. */
const hostFolders = ['src/sandbox/machines/kubelet/'];

/** Makes one ES module of the program. The same sources give the same text wherever they lie. */
export async function bundle(entry: string, version: string): Promise<Bundle> {
  const { outputFiles, metafile, warnings } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    outfile: 'main.mjs',
    platform: 'node',
    format: 'esm',
    target: 'node26',
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'silent',
    define: {
      "process.env['WMCO_VERSION']": JSON.stringify(version),
      'process.env.WMCO_VERSION': JSON.stringify(version),
    },
    // CommonJS packages inside an ES module still call require for built-in modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(process.execPath);",
    },
  });
  const inputs = Object.keys(metafile.inputs).sort();
  const problems = [...warnings.map(({ text }) => text), ...misplaced(inputs)];
  if (problems.length > 0) throw new Error(`${relative(root, entry)} cannot be bundled:\n${problems.join('\n')}`);
  return { code: outputFiles[0]?.text ?? '', inputs };
}

/** One line for each file that has no business on a Windows host. */
export function misplaced(inputs: readonly string[]): string[] {
  return inputs.flatMap(path => {
    const [top, layer = ''] = path.split('/');
    const isFine = hostLayers.includes(layer) || hostFolders.some(folder => path.startsWith(folder));
    return top === 'src' && !isFine ? [`${path} is of layer ${layer}, which does not go to a Windows host`] : [];
  });
}
