"""The plugin of pytest. Which of its two modules pytest loads, `lossproof_door.pytest_plugin` says."""
