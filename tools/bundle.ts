import { build } from 'esbuild';

/** CommonJS packages inside an ESM bundle need require, __dirname and __filename. */
const commonJs = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);
const { dirname: __dirname, filename: __filename } = import.meta;`;

/** Bundles a program and its imports into one file that needs only Node.js. */
export async function bundle(source: string, outfile: string, define: Record<string, string> = {}): Promise<void> {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Optional native code of the SSH library.
    external: ['cpu-features'],
    define,
    banner: { js: commonJs },
    logLevel: 'silent',
  });
}
