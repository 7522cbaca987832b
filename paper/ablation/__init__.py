"""The ablation: what each part of the automatic choice gains."""
