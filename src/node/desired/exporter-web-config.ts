import { file } from '#contract/paths.ts';

/** Makes windows_exporter serve TLS with the certificate that the cluster's service CA issued. */
export function exporterWebConfig(): string {
  return `tls_server_config:\n  cert_file: ${quoted(file.tlsCertificate)}\n  key_file: ${quoted(file.tlsKey)}\n`;
}

/** A YAML text in single quotes, in which a backslash is just a backslash. */
function quoted(text: string): string {
  return `'${text}'`;
}
