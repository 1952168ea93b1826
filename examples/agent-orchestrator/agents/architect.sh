# An agent that dies of a missing export, the way Python says it. No Python is needed for it.
sleep 2
cat >&2 <<'END'
Traceback (most recent call last):
  File "/app/agents/architect.py", line 12, in <module>
    from agents.skills import SkillNames
ImportError: cannot import name 'SkillNames' from 'agents.skills' (/app/agents/skills/__init__.py)
END
exit 1
