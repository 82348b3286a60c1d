import type { CompletedCommand } from './tree.ts';
import { shellQuote } from '../shell-quote.ts';
import { argumentFunction, caseFunction, spellings, valueFunction } from './case-functions.ts';

/** Works with bash 3.2, which macOS has. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = (words: (command: CompletedCommand) => readonly string[]) =>
    commands.map(command => `    ${shellQuote(command.path)}) echo ${shellQuote(words(command).join(' '))} ;;`);
  return [
    '# bash completion of wmco. Load it with: source <(wmco completion bash)',
    '',
    ...caseFunction(
      '_wmco_commands',
      '$1',
      cases(command => command.commands.map(({ name }) => name)),
    ),
    ...caseFunction(
      '_wmco_flags',
      '$1',
      cases(command => command.flags.flatMap(spellings)),
    ),
    ...valueFunction(commands),
    ...argumentFunction(commands),
    functions,
  ].join('\n');
}

const functions = `# Adds each line of standard input that continues the value $2, with the prefix $1.
_wmco_reply() {
  local candidate typed="$1$2" tail
  # bash replaces only the text after the last of these characters.
  tail=\${typed##*["$COMP_WORDBREAKS"]}
  while IFS= read -r candidate; do
    [[ -n $candidate && $candidate == "$2"* ]] || continue
    [[ $candidate == *[=@] ]] && compopt -o nospace 2>/dev/null
    candidate=$1$candidate
    COMPREPLY+=("\${candidate:\${#typed} - \${#tail}}")
  done
}

_wmco() {
  local line=\${COMP_LINE:0:COMP_POINT} command='' flag='' kind='' prefix='' value index flag_index=0 word
  local -a words
  COMPREPLY=()
  # COMP_WORDS is split at = and @, which are part of our words.
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local last=$((\${#words[@]} - 1))
  ((last > 0)) || return 0
  value=\${words[last]}
  for ((index = 1; index < last; index++)); do
    word=\${words[index]}
    if [[ $word == -* ]]; then
      flag=$word flag_index=$index
    elif [[ -z $flag && $word != help && " $(_wmco_commands "$command") " == *" $word "* ]]; then
      command=\${command:+$command }$word
    fi
  done
  if [[ $value == -*=* ]]; then
    kind=$(_wmco_value "$command" "\${value%%=*}")
    prefix=\${value%%=*}=
    value=\${value#*=}
  elif [[ $value == -* ]]; then
    kind="words $(_wmco_flags "$command")"
  elif [[ -n $flag ]]; then
    kind=$(_wmco_value "$command" "$flag")
    [[ $kind == *... || $flag_index == $((last - 1)) ]] || kind=''
  fi
  [[ -n $kind ]] || kind="words $(_wmco_commands "$command")"
  [[ $kind != 'words ' ]] || kind=$(_wmco_argument "$command")
  # Such as dir=PATH.
  if [[ $value == *=* && " $kind " == *" \${value%%=*}= "* ]]; then
    kind=folders prefix=$prefix\${value%%=*}= value=\${value#*=}
  fi
  case $kind in
    words*) _wmco_reply "$prefix" "$value" < <(tr ' ' '\\n' <<<"\${kind#words }") ;;
    faults) _wmco_reply "$prefix" "$value" < <("\${words[0]}" __complete faults "$value" 2>/dev/null) ;;
    hosts) _wmco_reply '' "$value" < <("\${words[0]}" __complete hosts "\${words[@]:2:last-2}" 2>/dev/null) ;;
    files*)
      compopt -o filenames 2>/dev/null
      _wmco_reply "$prefix" "$value" < <(compgen -f -- "$value")
      ;;
    folders)
      compopt -o filenames 2>/dev/null
      _wmco_reply "$prefix" "$value" < <(compgen -d -- "$value")
      ;;
  esac
}

complete -F _wmco wmco
`;
