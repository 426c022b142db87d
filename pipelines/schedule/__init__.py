"""`curate schedule`: the daemon that runs the nights where no cron, systemd or launchd does."""
