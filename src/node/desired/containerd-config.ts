import { dir } from '#contract/paths.ts';

/** Image of the pod sandbox; a disconnected cluster must mirror it. containerd asks the mirrors of its registry for it. */
export const pauseImage = 'mcr.microsoft.com/oss/kubernetes/pause:3.9';

/** The only runtime of a host, and the handler of every RuntimeClass. */
export const windowsRuntime = 'runhcs-wcow-process';

const pluginPrefix = 'io.containerd';
const cri = `plugins."${pluginPrefix}.grpc.v1.cri"`;

/** containerd's configuration, version 2. Literal strings (single quotes) keep backslashes. */
export function containerdConfig(): string {
  return `${sections.map(lines => lines.join('\n')).join('\n\n')}\n`;
}

const sections = [
  ['version = 2', "root = 'C:\\ProgramData\\containerd\\root'", "state = 'C:\\ProgramData\\containerd\\state'"],
  [
    '[grpc]',
    "  address = '\\\\.\\pipe\\containerd-containerd'",
    '  max_recv_message_size = 16777216',
    '  max_send_message_size = 16777216',
  ],
  [
    '[timeouts]',
    `  "${pluginPrefix}.timeout.shim.cleanup" = "5s"`,
    `  "${pluginPrefix}.timeout.shim.load" = "5s"`,
    `  "${pluginPrefix}.timeout.shim.shutdown" = "3s"`,
    `  "${pluginPrefix}.timeout.task.state" = "2s"`,
  ],
  [
    `[plugins."${pluginPrefix}.gc.v1.scheduler"]`,
    '  pause_threshold = 0.02',
    '  deletion_threshold = 0',
    '  mutation_threshold = 100',
    '  schedule_delay = "0s"',
    '  startup_delay = "100ms"',
  ],
  [
    `[${cri}]`,
    `  sandbox_image = "${pauseImage}"`,
    '  max_concurrent_downloads = 3',
    '  image_pull_progress_timeout = "30m0s"',
    '  max_container_log_line_size = 16384',
    '  disable_tcp_service = true',
    '  stream_server_address = "127.0.0.1"',
    '  stream_server_port = "0"',
    '  stream_idle_timeout = "4h0m0s"',
  ],
  [
    `  [${cri}.cni]`,
    `    bin_dir = '${dir.cni}'`,
    `    conf_dir = '${dir.cniConfig}'`,
    '    max_conf_num = 1',
    '    ip_pref = "ipv4"',
  ],
  [
    `  [${cri}.containerd]`,
    `    default_runtime_name = "${windowsRuntime}"`,
    '    snapshotter = "windows"',
    '',
    `    [${cri}.containerd.runtimes.${windowsRuntime}]`,
    `      runtime_type = "${pluginPrefix}.runhcs.v1"`,
  ],
  [`  [${cri}.registry]`, `    config_path = '${dir.registries}'`],
  [`[plugins."${pluginPrefix}.metadata.v1.bolt"]`, '  content_sharing_policy = "shared"'],
  [`[plugins."${pluginPrefix}.nri.v1.nri"]`, '  disable = true'],
  [`[plugins."${pluginPrefix}.runtime.v2.task"]`, '  platforms = ["windows/amd64", "linux/amd64"]'],
  [`[plugins."${pluginPrefix}.service.v1.diff-service"]`, '  default = ["windows", "windows-lcow"]'],
  decoder('tar', 'tar+encrypted', 'tar'),
  decoder('tar.gzip', 'tar+gzip+encrypted', 'tar+gzip'),
];

/** Decrypts encrypted image layers, as containerd does by default. */
function decoder(name: string, accepts: string, returns: string): string[] {
  const home = 'C:\\Program Files\\containerd\\ocicrypt';
  const layer = 'application/vnd.oci.image.layer.v1';
  return [
    `[stream_processors."${pluginPrefix}.ocicrypt.decoder.v1.${name}"]`,
    `  accepts = ["${layer}.${accepts}"]`,
    `  returns = "${layer}.${returns}"`,
    '  path = "ctd-decoder"',
    `  args = ["--decryption-keys-path", '${home}\\keys']`,
    `  env = ['OCICRYPT_KEYPROVIDER_CONFIG=${home}\\ocicrypt_keyprovider.conf']`,
  ];
}
