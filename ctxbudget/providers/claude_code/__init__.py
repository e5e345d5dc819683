"""Claude Code's words: the lines of its sessions, which its stream-json output says in other names."""
