import { timestamp } from '#base/clock.ts';
import { type Message, messages } from './protobuf-messages.ts';

/** Prefix of the Kubernetes protobuf encoding. */
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/**
 * Decodes a protobuf body to the JSON form. Newer versions of kubectl send protobuf for kinds
 * with a typed client; undefined for other kinds and malformed messages.
 */
export function decodeProtobuf(bytes: Buffer): Record<string, unknown> | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic)) return undefined;
  const envelope = decode(messages.envelope, bytes.subarray(magic.length));
  const { apiVersion, kind } = (envelope?.['typeMeta'] ?? {}) as Record<string, unknown>;
  const message = typeof kind === 'string' && Object.hasOwn(byKind, kind) ? byKind[kind] : undefined;
  if (message === undefined) return undefined;
  const raw = Buffer.from((envelope?.['raw'] ?? '') as string, 'base64');
  const object = decode(message, raw);
  return object && { apiVersion, kind, ...object };
}

const byKind: Record<string, Message> = {
  ClusterRole: messages.role,
  ClusterRoleBinding: messages.roleBinding,
  ConfigMap: messages.configMap,
  Namespace: messages.namespace,
  Role: messages.role,
  RoleBinding: messages.roleBinding,
  Secret: messages.secret,
  ServiceAccount: messages.serviceAccount,
  CertificateSigningRequest: messages.certificateSigningRequest,
  DeleteOptions: messages.deleteOptions,
  Eviction: messages.eviction,
  LocalSubjectAccessReview: messages.subjectAccessReview,
  SelfSubjectAccessReview: messages.selfSubjectAccessReview,
  SelfSubjectRulesReview: messages.selfSubjectRulesReview,
  SubjectAccessReview: messages.subjectAccessReview,
  TokenRequest: messages.tokenRequest,
  TokenReview: messages.tokenReview,
};

function decode(message: Message, bytes: Buffer): Record<string, unknown> | undefined {
  const reader = new Reader(bytes);
  const object: Record<string, unknown> = {};
  while (!reader.atEnd) {
    const tag = reader.number();
    const wire = Number(tag & 7n);
    const field = message[Number(tag >> 3n)];
    const content = wire === 0 ? reader.number() : wire === 2 ? reader.octets() : undefined;
    // These messages have no fixed-length fields.
    if (content === undefined || reader.failed) return undefined;
    if (field !== undefined) put(object, field, content);
  }
  return reader.failed ? undefined : object;
}

function put(object: Record<string, unknown>, field: Message[number] & object, content: bigint | Buffer): void {
  const value = valueOf(field.is, content);
  const { name } = field;
  // An empty string means not set, but in a list it is a value, such as the core group.
  if (value === undefined || (value === '' && field.many === undefined)) return;
  if (field.many === 'list') object[name] = [...((object[name] as unknown[] | undefined) ?? []), value];
  else if (field.many === 'map') {
    const { key = '', value: member = '' } = value as { key?: string; value?: unknown };
    object[name] = { ...(object[name] as object | undefined), [key]: member };
  } else object[name] = value;
}

function valueOf(is: (Message[number] & object)['is'], content: bigint | Buffer): unknown {
  if (typeof content === 'bigint') return is === 'boolean' ? content !== 0n : Number(BigInt.asIntN(64, content));
  if (is === 'string') return content.toString();
  if (is === 'bytes') return content.toString('base64');
  if (is === 'time') return timeOf(content);
  return typeof is === 'object' ? decode(is, content) : undefined;
}

/** Zero seconds mean not set. */
function timeOf(content: Buffer): string | undefined {
  const { seconds } = decode(messages.time, content) ?? {};
  return typeof seconds === 'number' && seconds > 0 ? timestamp(seconds * 1000) : undefined;
}

class Reader {
  failed = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.failed || this.#at >= this.#bytes.length;
  }

  /** Reads a varint. */
  number(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const octet = this.#bytes[this.#at];
      this.#at += 1;
      if (octet === undefined) break;
      value |= BigInt(octet & 0x7f) << shift;
      if (octet < 0x80) return value;
    }
    this.failed = true;
    return 0n;
  }

  octets(): Buffer {
    const length = Number(this.number());
    const end = this.#at + length;
    if (end > this.#bytes.length) this.failed = true;
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return content;
  }
}
