import type { Answer } from './router.ts';

/**
 * An OpenAPI v2 document without types, which makes older kubectl leave validation to the server. It is JSON
 * or the protobuf that kubectl requests.
 */
export function openApiText(accept: string, version: string): Answer {
  const binary = accept.includes('application/com.github.proto-openapi.spec.v2');
  if (!binary)
    return {
      is: 'body',
      code: 200,
      body: { swagger: '2.0', info: { title: 'Kubernetes', version }, paths: {}, definitions: {} },
    };
  const info = Buffer.concat([field(1, 'Kubernetes'), field(2, version)]);
  const document = Buffer.concat([field(1, '2.0'), field(2, info), field(8, ''), field(9, '')]);
  return {
    is: 'bytes',
    code: 200,
    bytes: document,
    contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  };
}

/** A length-delimited field; all of these are shorter than 128 bytes. */
function field(number: number, content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), Buffer.from(content)]);
}
