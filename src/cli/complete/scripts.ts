/** What each shell has to be told. All they do is to ask `keepwell __complete`, so they do not age. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# Completion of keepwell for bash.
_keepwell() {
  local program=\${1/#\\~/$HOME} index word line value
  local -a words=()
  # Bash takes "--output=json" apart at "="; here it is one word again.
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if ((\${#words[@]} > 0)) && [[ $word == = || \${COMP_WORDS[index - 1]} == = ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  value=\${words[\${#words[@]} - 1]}
  [[ $value == --*=* ]] && value=\${value#*=}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$value")
      return
    fi
    line=\${line%%$'\\t'*}
    [[ $line == --*=* ]] && line=\${line#*=}
    COMPREPLY+=("$line")
  done < <("$program" __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _keepwell keepwell
`;

const ZSH = `#compdef keepwell
# Completion of keepwell for zsh.
_keepwell() {
  local line
  local -a lines candidates
  lines=("\${(@f)$("\${(Q)words[1]}" __complete -- "\${(@Q)words[2,CURRENT - 1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $lines[1] == :files ]]; then
    compset -P '--*='
    _files
    return
  fi
  for line in $lines; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe keepwell candidates
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _keepwell "$@"
else
  compdef _keepwell keepwell
fi
`;

const FISH = `# Completion of keepwell for fish.
function __keepwell_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$lines[1]" = :files
        set -l prefix (string match -r -- '^--[^=]*=' "$current")
        for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
            echo "$prefix$path"
        end
    else
        string join -- \\n $lines
    end
end
complete -c keepwell -f -a '(__keepwell_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
