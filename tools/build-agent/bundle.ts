import { join, relative } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');

export interface Bundle {
  code: string;
  /** All source files, relative to the root of the project. */
  inputs: string[];
}

/** Layers that are allowed on a Windows host. */
const hostLayers = ['agent', 'base', 'bin', 'contract', 'kube'];
/** The kubelet double also runs on hosts under Wine. */
const hostFolders = ['src/sandbox/machines/kubelet/'];

/** Bundles the program as one ES module, reproducibly in any folder. */
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
  const problems = [...warnings.map(({ text }) => text), ...layerProblems(inputs)];
  if (problems.length > 0) throw new Error(`${relative(root, entry)} cannot be bundled:\n${problems.join('\n')}`);
  return { code: outputFiles[0]?.text ?? '', inputs };
}

/** One line for each file of a layer that is not allowed on a Windows host. */
export function layerProblems(inputs: readonly string[]): string[] {
  return inputs.flatMap(path => {
    const [top, layer = ''] = path.split('/');
    const isFine = hostLayers.includes(layer) || hostFolders.some(folder => path.startsWith(folder));
    return top === 'src' && !isFine ? [`${path}: layer ${layer} is not allowed on a Windows host`] : [];
  });
}
