import type { CompletedCommand } from './tree.ts';
import { shellQuote } from '../shell-quote.ts';
import { argumentFunction, caseFunction, spellings, valueFunction } from './case-functions.ts';

export function zshScript(commands: readonly CompletedCommand[]): string {
  const described = (items: readonly (readonly [name: string, help: string])[]) =>
    items.map(([name, help]) => shellQuote(`${name.replaceAll(':', String.raw`\:`)}:${help}`)).join(' ');
  const cases = (items: (command: CompletedCommand) => readonly (readonly [string, string])[]) =>
    commands.map(command => `    ${shellQuote(command.path)}) reply=(${described(items(command))}) ;;`);
  const flagItems = ({ flags }: CompletedCommand) =>
    flags.flatMap(flag => spellings(flag).map(spelling => [spelling, flag.help] as const));
  return [
    '#compdef wmco',
    '# zsh completion of wmco. Load it with: source <(wmco completion zsh)',
    '',
    ...caseFunction(
      '_wmco_commands',
      '$1',
      cases(command => command.commands.map(each => [each.name, each.summary])),
    ),
    ...caseFunction('_wmco_flags', '$1', cases(flagItems)),
    ...valueFunction(commands),
    ...argumentFunction(commands),
    functions,
  ].join('\n');
}

const functions = `_wmco_reply() {
  local candidate
  while IFS= read -r candidate; do
    case $candidate in
      '') ;;
      *[=@]) compadd -S '' -- "$candidate" ;;
      *) compadd -- "$candidate" ;;
    esac
  done
}

_wmco() {
  local subcommand='' flag='' kind='' value=$words[CURRENT] word item
  local -i index flag_index=0
  local -a reply
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    if [[ $word == -* ]]; then
      flag=$word flag_index=$index
    elif [[ -z $flag && $word != help ]]; then
      reply=()
      _wmco_commands "$subcommand"
      for item in "\${reply[@]}"; do
        [[ \${item%%:*} == "$word" ]] || continue
        subcommand="\${subcommand:+$subcommand }$word"
        break
      done
    fi
  done
  reply=()
  if [[ $value == -*=* ]]; then
    kind=$(_wmco_value "$subcommand" "\${value%%=*}")
    value=\${value#*=}
    compset -P '*='
  elif [[ $value == -* ]]; then
    _wmco_flags "$subcommand"
    _describe flag reply
    return
  elif [[ -n $flag ]]; then
    kind=$(_wmco_value "$subcommand" "$flag")
    [[ $kind == *... || $flag_index -eq $((CURRENT - 1)) ]] || kind=''
  fi
  if [[ -z $kind ]]; then
    _wmco_commands "$subcommand"
    if ((\${#reply[@]} > 0)); then
      _describe command reply
      return
    fi
    kind=$(_wmco_argument "$subcommand")
  fi
  # Such as dir=PATH.
  if [[ $value == *=* && " $kind " == *" \${value%%=*}= "* ]]; then
    compset -P '*='
    kind=folders
  fi
  case $kind in
    words*) _wmco_reply < <(tr ' ' '\\n' <<<"\${kind#words }") ;;
    faults) _wmco_reply < <("$words[1]" __complete faults "$value" 2>/dev/null) ;;
    hosts) _wmco_reply < <("$words[1]" __complete hosts "\${(@)words[3,CURRENT-1]}" 2>/dev/null) ;;
    files*) _files ;;
    folders) _files -/ ;;
  esac
}

if [[ $funcstack[1] == _wmco ]]; then
  _wmco "$@"
else
  compdef _wmco wmco
fi
`;
