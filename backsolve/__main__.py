"""`python -m backsolve`, and what the command `backsolve` runs."""

try:
    from backsolve.cli.main import main
except KeyboardInterrupt:
    # An interrupt during the imports ends the command as a later one does: without a traceback.
    raise SystemExit(130) from None

if __name__ == "__main__":
    main()
