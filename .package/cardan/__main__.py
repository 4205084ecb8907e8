"""`python -m cardan`: the command line."""

from cardan.service.cli.app import main

if __name__ == "__main__":
    main()
