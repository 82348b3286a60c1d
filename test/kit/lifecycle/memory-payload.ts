import { sha256 } from '../../../src/base/sha256.ts';
import { agentName } from '../../../src/contract/names.ts';
import { packContent } from '../../../src/node/bundle.ts';
import { payloadFor } from '../../../src/node/payload.ts';
import type { PayloadSource } from '../../../src/node/payload-source.ts';

/** A payload of small made-up programs; `mark` makes payloads differ. */
export function memoryPayload(mark = 'one', sizeOf: (name: string) => number = () => 2000): PayloadSource {
  const contentOf = (name: string) => {
    const text = `${name} ${mark} `;
    return Buffer.from(text.repeat(Math.ceil(sizeOf(name) / text.length)).slice(0, sizeOf(name)));
  };
  const agentFile = `${agentName}.exe`;
  return {
    agent: async () => {
      const content = contentOf(agentFile);
      return {
        path: `C:\\k\\${agentFile}`,
        sha256: sha256(content),
        bytes: content.length,
        content: async function* once() {
          yield content;
        },
      };
    },
    files: platform =>
      Promise.all(
        payloadFor(platform)
          .filter(({ name }) => name !== agentFile)
          .map(async ({ name, directory }) => ({
            path: `${directory}\\${name}`,
            secret: false,
            ...(await packContent(contentOf(name))),
          })),
      ),
  };
}
