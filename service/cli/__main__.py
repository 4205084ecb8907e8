"""`python -m cardan.service.cli`."""

from cardan.service.cli.app import main

if __name__ == "__main__":
    main()
