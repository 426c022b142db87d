#!/bin/sh
# Runs `curate` for the plugin: the hooks and the MCP server call this script with a verb.
# The memory is the one in the plugin's settings, else CURATE_MEMORY, else the nearest one above the project.
if [ -n "$CLAUDE_PLUGIN_OPTION_MEMORY" ]; then
    CURATE_MEMORY=$CLAUDE_PLUGIN_OPTION_MEMORY
    export CURATE_MEMORY
fi
# A session started from a desktop often lacks ~/.local/bin, where uv and pipx put commands.
PATH=$PATH:$HOME/.local/bin
if command -v curate >/dev/null; then
    # Commands that the agent types later in the session need the same memory.
    if [ -n "$CLAUDE_ENV_FILE" ] && [ -n "$CLAUDE_PLUGIN_OPTION_MEMORY" ]; then
        quoted=$(printf %s "$CURATE_MEMORY" | sed "s/'/'\\\\''/g")
        printf "export CURATE_MEMORY='%s'\n" "$quoted" >>"$CLAUDE_ENV_FILE"
    fi
    exec curate "$@"
fi
missing="The memcurate plugin needs the command 'curate', which is not installed. Run 'uv tool install memcurate' or 'pipx install memcurate', then start a new session."
case $1 in
context) # The session starts all the same; the person and the agent both learn why it has no memory.
    printf '{"systemMessage": "%s", "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "%s"}}\n' \
        "$missing" "Memory health: $missing"
    ;;
capture) ;; # The start of the session said it already.
*)
    echo "$missing" >&2
    exit 127
    ;;
esac
