"""The entry point of `python -m backsolve` and of the command `backsolve`."""

try:
    from backsolve.cli.main import main
except KeyboardInterrupt:
    # An interrupt during the imports ends the command without a traceback, as a later one does.
    raise SystemExit(130) from None

if __name__ == "__main__":
    main()
