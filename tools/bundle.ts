import { build } from 'esbuild';

/** CommonJS packages inside an ESM bundle still call require for built-in modules, and ask where they are. */
const commonJs = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);
const { dirname: __dirname, filename: __filename } = import.meta;`;

/** Makes one file of a program and all that it imports, which needs nothing but Node.js. */
export async function bundle(source: string, outfile: string, define: Record<string, string> = {}): Promise<void> {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Native code that makes SSH a little faster where it is there; without it there is another way.
    external: ['cpu-features'],
    define,
    banner: { js: commonJs },
    logLevel: 'silent',
  });
}
