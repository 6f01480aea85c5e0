"""Which of the script's modules are language models, and what is told of each. For `forward` and `script` to import;
imports `gradient`."""
